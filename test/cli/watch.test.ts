import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Holdfast } from '@holdfast/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { Cli } from './holdfast-process.js';

let databaseUrl: string;
let dataDir: string;
let server: ServerProcess;
let owner: Holdfast;
/** One address, whatever server is behind it. */
let front: TcpProxy;
let cli: Cli;
let project: string;
let projects = 0;

const startServer = async () => {
  server = await ServerProcess.start({ dataDir, databaseUrl });
  owner = server.client(server.ownerToken, 'run-1');
};

beforeAll(async () => {
  databaseUrl = (await createTestDatabase()).url;
  dataDir = newServerFolder();
  await startServer();
  front = await startTcpProxy(() => connect(Number(new URL(server.url).port), '127.0.0.1'));
});
afterAll(() => front.close());

beforeEach(async () => {
  project = `watch-${++projects}`;
  await owner.projects.createProject({ project });
  const url = `http://127.0.0.1:${front.port}`;
  cli = new Cli({ HOLDFAST_URL: url, HOLDFAST_TOKEN: server.ownerToken });
});
afterEach(() => cli.remove());

/** A running `holdfast watch`, with the lines that it printed so far. */
function startWatch(...args: string[]) {
  const { child, outcome } = cli.start('watch', ...args);
  const lines: string[] = [];
  const told: string[] = [];
  if (child.stdout) createInterface(child.stdout).on('line', (line) => lines.push(line));
  if (child.stderr) createInterface(child.stderr).on('line', (line) => told.push(line));
  const shows = (text: string) => expect.poll(() => lines.join('\n'), { timeout: 20_000 }).toContain(text);
  const tells = (text: string) => expect.poll(() => told.join('\n'), { timeout: 20_000 }).toContain(text);
  const stop = async () => {
    child.kill('SIGINT');
    return (await outcome).code;
  };
  return { lines, told, shows, tells, stop };
}

const newTask = async (title = 'a task') => (await owner.tasks.createTask({ project, title })).task?.id ?? '';

async function hold(taskId: string, executionId: string) {
  const { outcome } = await owner.leases.acquireLease({ project, taskId, executionId });
  if (outcome.case !== 'grant' || !outcome.value.lease) throw new Error('not granted');
  return outcome.value.lease;
}

describe('watch', () => {
  it('prints a line for each event, and where to go on when it is ended', async () => {
    const held = await newTask();
    await hold(held, 'before');
    const watching = startWatch('--project', project, '--lines');
    await watching.shows('1 lease held');
    await watching.shows(`held  ${held}`);
    const taskId = await newTask();
    await owner.tasks.addNote({ project, taskId, text: 'written \u001b[31min red' });
    await watching.shows('written �[31min red');
    await hold(taskId, 'after');
    await watching.shows(`LEASE_ACQUIRED  ${taskId}`);
    expect(watching.lines.join('\n')).not.toContain('\u001b');
    expect(await watching.stop()).toBe(0);
    const resume = /--resume-after (\S+)/.exec(watching.told.join('\n'))?.[1] ?? '';

    const missed = await newTask();
    const again = startWatch('--project', project, '--resume-after', resume);
    await again.shows(`TASK_CREATED  ${missed}`);
    expect(again.lines.join('\n')).not.toContain(`TASK_CREATED  ${taskId}`);
    expect(await again.stop()).toBe(0);
  });

  it('goes on by itself when the server is killed and started again: nothing lost, nothing twice', async () => {
    const watching = startWatch('--project', project, '--json');
    const events = () =>
      watching.lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'event');
    const positions = () => events().map(({ event }) => Number(event.position));
    await watching.shows('"snapshot"');
    for (let i = 0; i < 5; i++) await newTask();
    await expect.poll(() => events().length, { timeout: 20_000 }).toBeGreaterThan(0);

    await server.end('SIGKILL');
    await startServer();
    const last = await newTask('after the restart');
    await watching.shows(last);
    const { events: history } = await owner.history.listHistory({ project, pageSize: 1_000 });
    const first = positions()[0] ?? 0;
    await expect
      .poll(positions, { timeout: 20_000 })
      .toEqual(history.map(({ position }) => Number(position)).filter((position) => position >= first));
    const states = watching.lines
      .map((line) => JSON.parse(line))
      .flatMap(({ kind, state }) => (kind === 'connection' ? [state] : []));
    expect(states).toContain('waiting');
    expect(states.at(-1)).toBe('live');
    expect(await watching.stop()).toBe(0);
  });

  it('shows the owner all projects, those too that come later', async () => {
    const watching = startWatch('--lines');
    await watching.shows('held');
    project = `${project}-later`;
    await owner.projects.createProject({ project });
    // Its snapshot tells the lease, or its events do, whichever came first.
    const taskId = await newTask();
    await hold(taskId, 'run-2');
    await watching.shows(taskId);
    expect(await watching.stop()).toBe(0);
  });

  it('refuses what can never be watched', async () => {
    const { code, stderr } = await cli.run('watch', '--project', project, '--task', 'no-such-task');
    expect([code, stderr]).toEqual([1, expect.stringContaining('no-such-task')]);
    const bad = await cli.run('watch', '--resume-after', 'garbage', '--json');
    expect([bad.code, JSON.parse(bad.stderr).error.code]).toEqual([1, 'INVALID_ARGUMENT']);
  });
});
