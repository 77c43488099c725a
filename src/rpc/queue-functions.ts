import type { MessageInitShape } from '@bufbuild/protobuf';
import type { NotReadySchema, TaskService } from '@holdfast/proto/task';
import { describeSpan } from '../domain/instant.js';
import { canonicalPrincipal } from '../domain/principal.js';
import { listNotReady, listReady, type NotReady, type QueueCursor } from '../store/queue.js';
import type { QueueFilter } from '../store/queue-list.js';
import type { Store } from '../store/store.js';
import type { ServiceFunctions } from './api.js';
import type { Call } from './call.js';
import { unmetMessage } from './encode/task.js';
import { timestamp } from './encode/time.js';
import { messageOf } from './guarded-write.js';
import { cut, type Page, pageOf } from './page.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof TaskService.method>;

const MAX_EXPLAINED = 100;

/** The filter of a request for ready tasks. */
export function filterOf(request: {
  planId: string;
  labels: readonly string[];
  assignee: string;
}): QueueFilter {
  return {
    planId: request.planId || undefined,
    labels: [...new Set(request.labels)],
    assignee: request.assignee ? canonicalPrincipal(request.assignee) : undefined,
  };
}

const listReadyTasks: Functions['listReadyTasks'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  const filter = filterOf(request);
  const found = await listReady(store, call.project, filter, cursorOf(page), page.size + 1);
  const { rows, nextPageToken } = cut(page, found, ({ task }) =>
    JSON.stringify([task.priority, task.planOrder, task.seq]),
  );
  return {
    tasks: rows.map(messageOf),
    notReady: request.explain ? await explained(store, call, filter) : [],
    nextPageToken,
  };
};

function cursorOf({ after }: Page): QueueCursor | undefined {
  if (after === undefined) return undefined;
  const [, priority, planOrder, seq] = /^\[(-?\d{1,10}),(\d{1,10}),(\d{1,15})\]$/.exec(after) ?? [];
  if (seq === undefined) throw invalidArgument('page_token', 'is damaged');
  return { priority: Number(priority), planOrder: Number(planOrder), seq: Number(seq) };
}

async function explained(store: Store, { project }: Call, filter: QueueFilter) {
  const tasks = await listNotReady(store, project, filter, MAX_EXPLAINED);
  return Promise.all(
    tasks.map(async (task): Promise<MessageInitShape<typeof NotReadySchema>> => {
      const read = task.why === 'BLOCKED' ? await store.read({ project, taskId: task.taskId }) : undefined;
      return {
        taskId: task.taskId,
        title: task.title,
        reason: reasonOf(task),
        unmetDependencies: (read?.found?.unmet ?? []).map(unmetMessage),
        ...(task.holder && { holder: task.holder }),
        ...(task.expiresAt !== undefined && { expiresAt: timestamp(task.expiresAt) }),
      };
    }),
  );
}

function reasonOf({ why, holder, expiresAt, now }: NotReady): string {
  switch (why) {
    case 'BLOCKED':
      return 'It waits for unfinished tasks.';
    case 'LEASED':
      return (
        `${holder?.principal} (${holder?.executionId}) holds it ` +
        `for another ${describeSpan((expiresAt ?? now) - now)} unless it renews.`
      );
    case 'QUARANTINED':
      return 'Its leases expired too often in a row; a person must requeue it.';
  }
}

export const queueFunctions = { listReadyTasks } satisfies Functions;
