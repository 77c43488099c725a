import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Cli } from './holdfast-process.js';

/** Runs the command with a folder for temporary files of its own, so that what is left behind can be told. */
export class TracedCli extends Cli {
  readonly tmp: string;

  constructor(env: NodeJS.ProcessEnv = {}) {
    super(env);
    this.tmp = join(this.folder, 'tmp');
    mkdirSync(this.tmp);
    this.env.TMPDIR = this.tmp;
  }

  /** The temporary files that are there, and the processes that were started with this folder for theirs. */
  traces(): { files: string[]; processes: string[] } {
    // The command lines with the environments behind them.
    const all = execFileSync('ps', ['axeww', '-o', 'pid=,command='], {
      env: { PATH: process.env.PATH },
      maxBuffer: 64 * 1_024 * 1_024,
      encoding: 'utf8',
    });
    const processes = all.split('\n').filter((line) => line.includes(this.tmp));
    return { files: readdirSync(this.tmp), processes };
  }
}

/** Nothing is left. */
export const noTraces = { files: [], processes: [] };

/** Waits for a line on stdout, which `outcome` reads, too. Rejects when the process ends without it. */
export async function lineWith(child: ChildProcess, text: string): Promise<string> {
  let seen = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      seen += chunk;
      const line = seen
        .split('\n')
        .slice(0, -1)
        .find((whole) => whole.includes(text));
      if (line !== undefined) resolve(line);
    });
    child.once('close', () => reject(new Error(`it ended without a line with ${text}: ${seen}`)));
  });
}
