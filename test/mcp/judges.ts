import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** What a judge said, and whether it found fault. */
interface Verdict {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The programs of others that judge MCP servers. */
export interface Judges {
  conformance(...args: string[]): Promise<Verdict>;
  inspector(...args: string[]): Promise<Verdict>;
}

/**
 * Installs them where that has not been done. They need a newer Node than Holdfast and bring one.
 *
 * @param home a folder in which they may leave what they like
 */
export async function installJudges(home: string): Promise<Judges> {
  const installed = await run(join(ROOT, '.ci/npm-tools'), [join(ROOT, 'test/mcp/judges')], { cwd: ROOT });
  const modules = join(installed.stdout.trim(), 'node_modules');
  const { platform, arch } = process;
  const brought = [`node-${platform}-${arch}`, `node-bin-${platform}-${arch}`]
    .map((name) => join(modules, name, 'bin/node'))
    .find(existsSync);
  const judge =
    (script: string, ...first: string[]) =>
    async (...args: string[]): Promise<Verdict> => {
      const options = { cwd: home, env: { PATH: process.env.PATH, HOME: home }, maxBuffer: 2 ** 26 };
      const all = [join(modules, script), ...first, ...args];
      try {
        return { code: 0, ...(await run(brought ?? process.execPath, all, options)) };
      } catch (error) {
        const { code, stdout, stderr } = error as Verdict;
        // What never ran has judged nothing.
        if (typeof code !== 'number') throw error;
        return { code, stdout, stderr };
      }
    };
  return {
    conformance: judge('@modelcontextprotocol/conformance/dist/index.js', 'server'),
    inspector: judge('@modelcontextprotocol/inspector/clients/launcher/build/index.js', '--cli'),
  };
}
