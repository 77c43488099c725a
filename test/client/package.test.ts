import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

let folder: string;
let service: TestService;
let environment: Record<string, string | undefined>;

/** What the client needs, taken from where it is installed here, so that no registry is needed. */
const DEPENDENCIES = [
  '@bufbuild/protobuf',
  '@connectrpc/connect',
  '@connectrpc/connect-node',
  '@connectrpc/connect-web',
];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
  await run(join(ROOT, '.ci/packages'), [folder], { cwd: ROOT });
  const places = DEPENDENCIES.map((name) => `./node_modules/${name}`);
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, ...places], {
    cwd: ROOT,
  });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', ...tarballs.map((name) => `./${name}`)],
    {
      cwd: folder,
    },
  );
  service = await startTestService();
  environment = {
    PATH: process.env.PATH,
    HOLDFAST_URL: service.url,
    HOLDFAST_TOKEN: await service.token('AGENT', 'agent', 'ada'),
  };
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import { createHoldfast, withLease } from '@holdfast/client';
import { TaskStatus } from '@holdfast/proto/task';

const holdfast = createHoldfast({ url: process.env.HOLDFAST_URL ?? '', token: process.env.HOLDFAST_TOKEN ?? '' });
const { task } = await holdfast.tasks.createTask({ title: 'a task', executionId: holdfast.executionId });
const done = await withLease(holdfast, { taskId: task?.id ?? '' }, (held) => held.complete('it works'));
console.log(TaskStatus[done.task?.status ?? 0], done.task?.result);
holdfast.close();
`;

/** Bundles a module for browsers, as a page's build does. */
async function bundle(name: string, source: string): Promise<string> {
  const entry = join(folder, `${name}.js`);
  writeFileSync(entry, source);
  const result = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, minify: false, lib: { entry, formats: ['es'] } },
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (!output || !('output' in output)) throw new Error('nothing was built');
  expect(output.output).toHaveLength(1);
  return output.output[0].code;
}

describe('the package, installed into an empty project', () => {
  it('runs in Node', async () => {
    writeFileSync(join(folder, 'program.mjs'), PROGRAM);
    const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: folder, env: environment });
    expect(stdout).toBe('DONE it works\n');
  }, 60_000);

  it('brings its types', async () => {
    const environment = 'declare const process: { env: Record<string, string | undefined> };';
    writeFileSync(join(folder, 'typed.mts'), `${environment}\n${PROGRAM}`);
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = '--noEmit --strict --module nodenext --target es2022 --lib es2023,dom,dom.iterable'.split(
      ' ',
    );
    const args = [compiler, ...options, 'typed.mts'];
    const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error) => error);
    expect(stdout).toBe('');
  }, 120_000);

  it('bundles for browsers without anything of Node, and works there', async () => {
    const code = await bundle('page', `${PROGRAM.replaceAll('process.env', 'globalThis.settings')}`);
    expect(code.match(/^import .*|['"]node:\w+['"]|__vite-browser-external/gm) ?? []).toEqual([]);
    expect(code.includes('Http2SessionManager')).toBe(false);
    writeFileSync(
      join(folder, 'bundle.mjs'),
      `globalThis.settings = { ...process.env };\nglobalThis.process = undefined;\n${code}`,
    );
    const { stdout } = await run(process.execPath, ['bundle.mjs'], { cwd: folder, env: environment });
    expect(stdout).toBe('DONE it works\n');
  }, 120_000);

  it('leaves out what is not used', async () => {
    const code = await bundle('small', `export { LeaseLost } from '@holdfast/client';`);
    expect(code).toContain('LeaseLost');
    expect(code.length).toBeLessThan(5_000);
    expect(code.match(/\bfetch\(|Http2SessionManager|class Setbacks|withLease\(/g) ?? []).toEqual([]);
  }, 60_000);
});
