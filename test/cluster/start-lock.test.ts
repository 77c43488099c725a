import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from '../../src/cluster/start-lock.js';

const script = fileURLToPath(new URL('lock-holder.js', import.meta.url));
const holders: ChildProcess[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
});

afterEach(() => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('lets one in at a time, also while a dead holder is being succeeded', async () => {
  let inside = 0;
  const enter = () =>
    withLock(folder, { patience: 20_000 }, async () => {
      inside += 1;
      await new Promise(setImmediate);
      expect(inside).toBe(1);
      inside -= 1;
    });
  for (let round = 0; round < 10; round += 1) {
    writeFileSync(
      join(folder, 'holder'),
      JSON.stringify({ pid: process.pid, started: 'long ago', id: `${round}` }),
    );
    await Promise.all(Array.from({ length: 6 }, enter));
    expect(readdirSync(folder)).toEqual([]);
  }
});

test('is passed on when the work fails', async () => {
  const failing = withLock(folder, { patience: 0 }, () => Promise.reject(new Error('the work failed')));
  await expect(failing).rejects.toThrow('the work failed');
  expect(await withLock(folder, { patience: 0 }, async () => 'taken')).toBe('taken');
});

test('a killed holder is succeeded by exactly one of those who wait, and so is each killed successor', async () => {
  const waiting = Array.from({ length: 6 }, () => hold(60_000));
  const order: ChildProcess[] = [];
  let taken = 0;
  for (const holder of waiting) {
    holder.stdout?.on('data', () => {
      taken += 1;
      order.push(holder);
    });
  }
  for (let round = 1; round <= waiting.length; round += 1) {
    while (taken < round) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(taken).toBe(round);
    const holder = order.at(-1);
    holder?.kill('SIGKILL');
    if (holder) await once(holder, 'exit');
  }
  expect(await withLock(folder, { patience: 0 }, async () => readdirSync(folder))).toEqual(['holder']);
});

test('is refused, naming the holder, when a live one keeps it for too long', async () => {
  const holder = hold(0);
  await once(holder.stdout ?? holder, 'data');
  const waits: number[] = [];
  const refused = withLock(folder, { patience: 50, onWait: (pid) => waits.push(pid) }, async () => {});
  await expect(refused).rejects.toThrow(
    `Process ${holder.pid} has been starting or stopping Postgres for too long`,
  );
  expect(waits).toEqual([holder.pid]);
});

test('is taken over from a process whose pid now belongs to another', async () => {
  writeFileSync(join(folder, 'holder'), JSON.stringify({ pid: process.pid, started: 'long ago', id: 'x' }));
  expect(await withLock(folder, { patience: 0 }, async () => 'taken')).toBe('taken');
});

test('is taken over from a file that a power failure emptied', async () => {
  writeFileSync(join(folder, 'holder'), '');
  expect(await withLock(folder, { patience: 0 }, async () => 'taken')).toBe('taken');
});

test('leaves the draft of a rival alone that is just being written', async () => {
  const draft = join(folder, 'draft-of-a-rival');
  writeFileSync(draft, '');
  await withLock(folder, { patience: 0 }, async () => {});
  expect(readdirSync(folder)).toEqual(['draft-of-a-rival']);
});

function hold(patience: number): ChildProcess {
  const holder = spawn(process.execPath, [script, folder, String(patience)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holders.push(holder);
  return holder;
}
