// Ends a throw-away Postgres and deletes its folder when standard input ends: that is, when whoever started this
// has asked for it or is gone, even by SIGKILL. Plain JavaScript, because it runs outside of vitest.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const folder = process.argv[2];
if (!folder?.includes('holdfast-test-')) throw new Error(`not a throw-away folder: ${folder}`);

for await (const _ of process.stdin);

const pidFile = join(folder, 'postgres', 'postmaster.pid');
if (existsSync(pidFile)) {
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  // The data is about to be deleted: no need to write it down first.
  if (isOurs(pid)) process.kill(pid, 'SIGQUIT');
  for (let tries = 0; tries < 500 && isOurs(pid); tries += 1) await sleep(20);
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

function isOurs(pid) {
  try {
    return commandLine(pid).includes(folder);
  } catch {
    return false;
  }
}

function commandLine(pid) {
  if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
}
