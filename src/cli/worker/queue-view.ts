import type { ListReadyTasksResponse, UnmetDependency } from '@holdfast/proto/task';
import { TaskStatus } from '@holdfast/proto/task';
import type { Session } from '../session.js';

/** Which tasks a worker takes. */
export interface Filter {
  planId: string;
  labels: string[];
  assignee: string;
}

/** How many tasks are looked at to find out whether something moves; beyond it, it is taken to. */
const MOST_LOOKUPS = 300;

/**
 * Whether tasks that match may become ready without anybody's intervention: one of them is leased, or is blocked by
 * something that is, however indirectly.
 */
export async function mayBecomeReady(session: Session, filter: Filter): Promise<boolean> {
  const { holdfast, project } = session;
  const leased = await holdfast.tasks.listTasks({
    project,
    ...filter,
    statuses: [TaskStatus.IN_PROGRESS],
    pageSize: 1,
  });
  if (leased.tasks.length > 0) return true;
  const { notReady } = await holdfast.tasks.listReadyTasks({
    project,
    ...filter,
    explain: true,
    pageSize: 1,
  });
  return isMoving(session, notReady);
}

async function isMoving(
  { holdfast, project }: Session,
  notReady: ListReadyTasksResponse['notReady'],
): Promise<boolean> {
  const seen = new Set(notReady.map(({ taskId }) => taskId));
  const behind = notReady.flatMap(({ unmetDependencies }) => unmetDependencies);
  for (let lookups = 0; lookups < MOST_LOOKUPS; lookups++) {
    if (behind.some(isWorkedOn)) return true;
    const next = behind.splice(0).filter(({ taskId }) => !seen.has(taskId));
    const [first, ...others] = next;
    if (!first) return false;
    behind.push(...others);
    seen.add(first.taskId);
    const { unmetDependencies } = await holdfast.tasks.getTask({ project, taskId: first.taskId });
    behind.push(...unmetDependencies);
  }
  return true;
}

const isWorkedOn = ({ status, holder }: UnmetDependency) =>
  status === TaskStatus.IN_PROGRESS || holder !== undefined;
