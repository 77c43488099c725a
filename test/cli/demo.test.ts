import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { columns } from '../../src/cli/text.js';
import { lineWith, noTraces, TracedCli } from './demo-traces.js';

let cli: TracedCli;

beforeEach(() => {
  cli = new TracedCli();
});
afterEach(() => cli.remove());

it('plays the three scenes on a server of its own and takes all of it away', {
  timeout: 90_000,
}, async () => {
  // None of this is for the demo's own server.
  Object.assign(cli.env, { DATABASE_URL: 'postgres://nowhere/none', HOLDFAST_URL: 'http://nowhere' });
  Object.assign(cli.env, { LOCK_MAX_TTL_SECONDS: '1', PORT: '1' });
  const { outcome } = cli.start('demo', '--json');
  await watchFor(() => cli.traces().processes.some((line) => line.includes('serve')));
  const { code, stdout, stderr } = await outcome;

  expect(stderr).toBe('');
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({
    ok: true,
    server: { own: true },
    scenes: [
      { name: 'race', ok: true },
      { name: 'takeover', ok: true },
      { name: 'late-writer', ok: true },
    ],
  });
  expect(code).toBe(0);
  const acts = document.events.map(({ act }: { act: string }) => act);
  for (const act of [
    'granted',
    'refused',
    'notes',
    'killed',
    'expired',
    'taken over',
    'returns',
    'rejected',
  ]) {
    expect(acts).toContain(act);
  }
  const agents = new Set(document.events.map(({ who }: { who: string }) => who));
  expect([...agents].toSorted()).toEqual(['ada', 'ben', 'holdfast']);
  expect(document.events.at(-1).atMs).toBeLessThan(20_000);
  expect(cli.traces()).toEqual(noTraces);
});

it('draws lanes that fit 80 columns, and on Ctrl-C leaves nothing behind', { timeout: 90_000 }, async () => {
  const { child, outcome } = cli.start('demo');
  await lineWith(child, 'is killed');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await outcome;

  expect({ code, stderr }).toEqual({ code: 130, stderr: 'stopped by SIGINT\n' });
  expect(stdout).toMatch(/ time {2}ada {6}ben {6}holdfast$/m);
  expect(stdout).toMatch(/s {2}● {8}[│┃] {8}│ {8}ada is granted|s {2}[│┃] {8}● {8}│ {8}ben is granted/);
  expect(stdout).toContain('refused, HELD');
  expect(stdout).not.toContain('\u001b');
  for (const line of stdout.split('\n')) expect(columns(line)).toBeLessThanOrEqual(80);
  expect(cli.traces()).toEqual(noTraces);
});

it('fails and leaves nothing behind when its server dies', { timeout: 90_000 }, async () => {
  const { child, outcome } = cli.start('demo');
  await lineWith(child, 'is killed');
  const server = cli.traces().processes.find((line) => line.includes('holdfast.js serve'));
  process.kill(Number.parseInt(server ?? '', 10), 'SIGKILL');
  const { code, stdout } = await outcome;

  expect(stdout).toContain('Not as told.');
  expect(stdout).toContain('the scene goes on to its end: expected no error, was');
  expect(code).toBe(1);
  expect(cli.traces()).toEqual(noTraces);
});

it('leaves nothing behind when it is killed while its server starts', { timeout: 90_000 }, async () => {
  const { child, outcome } = cli.start('demo');
  await watchFor(() => cli.traces().files.length > 0);
  child.kill('SIGKILL');
  expect(await outcome).toMatchObject({ code: null });
  await watchFor(() => {
    const { files, processes } = cli.traces();
    return files.length === 0 && processes.length === 0;
  });
});

// A process table has no events to wait for.
async function watchFor(condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error('waited in vain for a change of the process table');
    await sleep(100);
  }
}
