import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

/** What a run of the command left behind. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command in an empty folder of its own, with nothing of the tests' environment but the path. */
export class Cli {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'));
  readonly env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.env = { PATH: process.env.PATH, HOLDFAST_DATA: this.folder, ...env };
  }

  /** Runs it to its end. */
  run(...args: string[]): Promise<Outcome> {
    return this.start(...args).outcome;
  }

  /** Starts it; `outcome` settles when it has ended. */
  start(...args: string[]): { child: ChildProcess; outcome: Promise<Outcome> } {
    const child = spawn(process.execPath, [binary, ...args], {
      cwd: this.folder,
      env: this.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end();
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const outcome = Promise.all([ended, text(child.stdout), text(child.stderr)]).then(
      ([code, stdout, stderr]) => ({ code, stdout, stderr }),
    );
    return { child, outcome };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
