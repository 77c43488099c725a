import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The Go client's module. */
export const GO_CLIENT = fileURLToPath(new URL('../../clients/go/', import.meta.url));

/** What keeps the Go tests from running on this machine, or undefined. */
export async function missingGo(): Promise<string | undefined> {
  const ask = promisify(execFile);
  const version = await ask('go', ['env', 'GOVERSION']).catch(() => undefined);
  if (!version) return 'there is no `go` on the path';
  // Any other version, where it can be fetched, has the one that go.mod wants.
  const listed = await ask('go', ['list', '-m'], { cwd: GO_CLIENT }).catch((error) => String(error.stderr));
  return typeof listed === 'string' ? `${version.stdout.trim()} is no use: ${listed.trim()}` : undefined;
}

/** What came of a command. */
export interface Ran {
  readonly code: number | null;
  /** Both outputs. */
  readonly output: string;
}

/** Runs `go` in a folder. Workspaces and modes of the machine's own settings do not count. */
export function go(args: readonly string[], folder: string, env: Record<string, string> = {}): Promise<Ran> {
  return run('go', args, folder, env);
}

/** Names the files of a folder that are not formatted. */
export function gofmt(folder: string): Promise<Ran> {
  return run('gofmt', ['-l', '.'], folder, {});
}

async function run(
  command: string,
  args: readonly string[],
  folder: string,
  env: Record<string, string>,
): Promise<Ran> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, GOFLAGS: '-buildvcs=false', GOWORK: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number | null, output: `${out}${err}` };
}
