import type { MessageShape } from '@bufbuild/protobuf';
import { EventKind } from '@holdfast/proto/history';
import type { LeaseService } from '@holdfast/proto/lease';
import { canonicalPrincipal } from '../domain/principal.js';
import type { WatchFilter } from '../domain/watch-filter.js';
import { eventCodes } from '../store/codes.js';
import type { Store } from '../store/store.js';
import { unknownOf } from '../store/watch-log.js';
import { fail } from './api.js';
import { invalidArgument } from './problems.js';

type Request = MessageShape<(typeof LeaseService.method.watchLeases)['input']>;

/** @throws INVALID_ARGUMENT kinds */
export function filterOf({ taskIds, planId, kinds, principal, executionId }: Request): WatchFilter {
  const unnamed = kinds.indexOf(EventKind.UNSPECIFIED);
  if (unnamed >= 0)
    throw invalidArgument(`kinds[${unnamed}]`, 'must name a kind; for all of them, leave kinds out');
  const wanted = new Set(kinds.map((kind) => EventKind[kind]));
  return {
    taskIds: taskIds.length > 0 ? new Set(taskIds) : undefined,
    planId: planId || undefined,
    kinds: kinds.length > 0 ? new Set(eventCodes.names.filter((name) => wanted.has(name))) : undefined,
    principal: principal ? canonicalPrincipal(principal) : undefined,
    executionId: executionId || undefined,
  };
}

/**
 * Refuses to watch what is not there: its stream would stay silent for ever, and a misspelt id would never be noticed.
 * Plans are not deleted. A task may be, after its watch began: whoever resumes is told so by its events.
 *
 * @throws NOT_FOUND
 */
export async function requireKnown(
  store: Store,
  project: string,
  { taskIds, planId }: WatchFilter,
  resumes: boolean,
): Promise<void> {
  const wanted = resumes ? [] : [...(taskIds ?? [])];
  if (wanted.length === 0 && planId === undefined) return;
  const { plan, tasks } = await unknownOf(store, project, planId, wanted);
  if (plan)
    fail({ kind: 'NOT_FOUND', message: `There is no plan ${JSON.stringify(planId)} in this project.` });
  if (tasks.length > 0) {
    const named = tasks
      .slice(0, 3)
      .map((id) => JSON.stringify(id))
      .join(', ');
    const more = tasks.length > 3 ? ` and ${tasks.length - 3} more` : '';
    fail({ kind: 'NOT_FOUND', message: `There is no task ${named}${more} in this project.` });
  }
}
