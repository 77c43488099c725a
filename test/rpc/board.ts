import type { Holdfast } from '@holdfast/client';
import type { Task } from '@holdfast/proto/task';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.js';
import { type AnyRpc, anyRpc } from './any-rpc.js';

/** Who calls: a token and a client that sends it. */
export interface Person extends Holdfast {
  readonly token: string;
}

/** A service with one principal of each role in its `default` project. */
export interface Board {
  readonly service: TestService;
  readonly owner: Person;
  readonly admin: Person;
  readonly member: Person;
  readonly viewer: Person;
  readonly agent: Person;
  /** Another agent. */
  readonly rival: Person;
  readonly any: AnyRpc;
  /** A new task, made by the member. */
  task(title?: string): Promise<Task>;
}

export type RoleOfBoard = 'agent' | 'viewer' | 'member' | 'admin' | 'owner';
export const ROLES: readonly RoleOfBoard[] = ['agent', 'viewer', 'member', 'admin', 'owner'];

/** Starts a board on a database of its own. It ends with the test file. */
export async function startBoard(options: TestServiceOptions = {}): Promise<Board> {
  const service = await startTestService(options);
  const person = (token: string, name: string): Person => ({
    ...service.client(token, `${name}-run`),
    token,
  });
  const [admin, member, viewer, agent, rival] = await Promise.all([
    service.token('PERSON', 'admin', 'alma'),
    service.token('PERSON', 'member', 'mia'),
    service.token('PERSON', 'viewer', 'vic'),
    service.token('AGENT', 'agent', 'ada'),
    service.token('AGENT', 'agent', 'rob'),
  ]);
  const board: Board = {
    service,
    owner: person(service.ownerToken, 'owner'),
    admin: person(admin, 'alma'),
    member: person(member, 'mia'),
    viewer: person(viewer, 'vic'),
    agent: person(agent, 'ada'),
    rival: person(rival, 'rob'),
    any: anyRpc(service.url),
    task: async (title = 'a task') => {
      const { task } = await board.member.tasks.createTask({ title });
      if (!task) throw new Error('no task was made');
      return task;
    },
  };
  return board;
}

/** A lease granted to somebody's execution; fails when it is refused. */
export async function hold(
  who: Person,
  taskId: string,
  seconds = 60,
): Promise<{ leaseId: string; fencingToken: bigint }> {
  const { outcome } = await who.leases.acquireLease({
    taskId,
    executionId: who.executionId,
    ttl: { seconds: BigInt(seconds), nanos: 0 },
  });
  if (outcome.case !== 'grant' || !outcome.value.lease) throw new Error(`refused: ${outcome.case}`);
  const { id, fencingToken } = outcome.value.lease;
  return { leaseId: id, fencingToken };
}
