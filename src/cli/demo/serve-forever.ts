import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { TaskStatus } from '@holdfast/proto/task';
import { onSignals } from '../signals.js';
import { styleFor } from '../style.js';
import { EndlessAgent } from './endless-agent.js';
import { endlessPlan } from './endless-plans.js';
import { startThrowAwayServer } from './throw-away-server.js';

const AGENTS = ['ada', 'ben', 'cleo', 'dan', 'eve'];
/** Finished plans that stay on the board. */
const PLANS_KEPT = 4;
const LOOK_EVERY_MS = 1_000;

/** How the endless demo is served. */
export interface EndlessOptions {
  readonly port: string;
  /** Absent: this machine only. */
  readonly host?: string;
  readonly json: boolean;
}

/**
 * Serves a dashboard that anybody may look at, with agents at work, until it is told to stop; leaves nothing behind.
 * Rejects when the server cannot start. Returns the exit code.
 */
export async function serveForever({ port, host, json }: EndlessOptions): Promise<number> {
  const ended = new AbortController();
  const stopListening = onSignals((signal) => ended.abort(signal));
  const server = startThrowAwayServer(['--visitors', '--port', port, ...(host ? ['--host', host] : [])]);
  try {
    const connection = await server.ready;
    const owner = createHoldfast(connection);
    const agents = await Promise.all(
      AGENTS.map((name) => makeAgent(name, owner, connection.url, ended.signal)),
    );
    announce(connection.url, json);
    await Promise.all([keepPlanning(owner, ended.signal), ...agents.map((agent) => agent.work())]);
    owner.close();
  } finally {
    await server.stop();
    stopListening();
  }
  return 128 + constants.signals[ended.signal.reason as NodeJS.Signals];
}

async function makeAgent(
  name: string,
  owner: Holdfast,
  url: string,
  signal: AbortSignal,
): Promise<EndlessAgent> {
  const { token } = await owner.projects.createToken({
    principal: name,
    kind: PrincipalKind.AGENT,
    role: Role.AGENT,
  });
  return new EndlessAgent(name, { url, token }, signal);
}

/** Makes a plan whenever little is left of the last one, and takes the oldest away. */
async function keepPlanning(owner: Holdfast, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; ) {
    try {
      const { tasks } = await owner.tasks.listTasks({
        statuses: [TaskStatus.OPEN, TaskStatus.IN_PROGRESS],
        pageSize: 100,
      });
      if (tasks.length < AGENTS.length) {
        await owner.tasks.importTasks({ tasks: endlessPlan(round) });
        round += 1;
        await takeAway(owner, round - 1 - PLANS_KEPT);
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    } catch {
      if (!signal.aborted) await sleep(LOOK_EVERY_MS);
    }
  }
}

/** Deletes the finished steps of a plan, so that the board stays as it is for a visitor who stays. */
async function takeAway(owner: Holdfast, round: number): Promise<void> {
  if (round < 0) return;
  const { steps } = await owner.tasks.getPlan({ externalKey: `round-${round}` });
  for (const { id, status } of steps.toReversed()) {
    if (status === TaskStatus.DONE) await owner.tasks.deleteTask({ taskId: id, detach: true });
  }
}

function announce(url: string, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ url })}\n`);
    return;
  }
  const style = styleFor(process.stdout);
  process.stdout.write(`
${style.bold('The demo is running.')}  Five agents work plans for ever; whoever opens the dashboard may look, and change nothing.

  board     ${style.cyan(`${url}/`)}
  timeline  ${style.cyan(`${url}/#/p/default/timeline`)}

Stop with Ctrl-C; the server and its data go with it.
`);
}
