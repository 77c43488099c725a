import { EventKind, HistoryOrder, type HistoryService } from '@holdfast/proto/history';
import { canonicalPrincipal } from '../domain/principal.js';
import { eventCodes } from '../store/codes.js';
import { listHistory } from '../store/history.js';
import type { ServiceFunctions } from './api.js';
import { eventMessage } from './encode/event.js';
import { microsOf } from './encode/time.js';
import { getEnforcementReport } from './enforcement-report.js';
import { notificationFunctions } from './notification-functions.js';
import { cut, numberCursor, pageOf } from './page.js';

type Functions = ServiceFunctions<typeof HistoryService.method>;

const listHistoryCall: Functions['listHistory'] = async ({ store, sequencer }, call, request) => {
  const page = pageOf(request, call.project);
  // Whoever asks after a write finds the write: what is committed gets its position first.
  await sequencer.catchUp();
  const { floor, events } = await listHistory(
    store,
    call.project,
    {
      taskId: request.taskId || undefined,
      actor: request.actor ? canonicalPrincipal(request.actor) : undefined,
      executionId: request.executionId || undefined,
      kinds: eventCodes.names.filter((name) => request.kinds.includes(EventKind[name])),
      since: request.since && microsOf(request.since),
      until: request.until && microsOf(request.until),
      newestFirst: request.order === HistoryOrder.NEWEST_FIRST,
    },
    numberCursor(page),
    page.size + 1,
  );
  const { rows, nextPageToken } = cut(page, events, (event) => String(event.position));
  return { events: rows.map(eventMessage), nextPageToken, floor };
};

export const historyFunctions = {
  listHistory: listHistoryCall,
  getEnforcementReport,
  ...notificationFunctions,
} satisfies Functions;
