import type { HttpConnection } from './http-connection.js';
import type { BenchServer } from './server.js';

type GrantAnswer = { grant?: { lease: { id: string; fencingToken: string } } };

/** @returns the new task's id */
export async function newTask(
  connection: HttpConnection,
  { token }: BenchServer,
  title: string,
): Promise<string> {
  const { task } = await connection.call<{ task: { id: string } }>(
    'holdfast.v1.TaskService/CreateTask',
    { title },
    token,
  );
  return task.id;
}

/** Acquires a free task and releases it again: two calls. */
export async function acquireAndRelease(
  connection: HttpConnection,
  { token }: BenchServer,
  taskId: string,
  executionId: string,
): Promise<void> {
  const { grant } = await connection.call<GrantAnswer>(
    'holdfast.v1.LeaseService/AcquireLease',
    { taskId, executionId },
    token,
  );
  if (!grant) throw new Error('a free task was refused');
  const { id: leaseId, fencingToken } = grant.lease;
  await connection.call('holdfast.v1.LeaseService/ReleaseLease', { leaseId, fencingToken }, token);
}
