import type { HistoryService } from '@holdfast/proto/history';
import {
  acknowledgeNotifications,
  type Inbox,
  listNotifications,
  tellEvents,
} from '../store/notifications.js';
import type { ServiceFunctions } from './api.js';
import type { Call } from './call.js';
import { eventMessage } from './encode/event.js';
import { cut, numberCursor, pageOf } from './page.js';

type Functions = ServiceFunctions<typeof HistoryService.method>;

/** The caller's own: an owner has one in every project. */
const inboxOf = ({ project, identity }: Call): Inbox => ({
  project,
  tokenProject: identity.project,
  principal: identity.principal,
});

const listNotificationsCall: Functions['listNotifications'] = async ({ store, sequencer }, call, request) => {
  const page = pageOf(request, call.project);
  // Whoever asks after an expiry finds it.
  await sequencer.catchUp();
  while ((await tellEvents(store, call.project)).events > 0);
  const found = await listNotifications(
    store,
    inboxOf(call),
    request.includeAcknowledged,
    numberCursor(page),
    page.size + 1,
  );
  const { rows, nextPageToken } = cut(page, found, ({ event }) => String(event.position));
  const notifications = rows.map(({ event, ...rest }) => ({ ...rest, event: eventMessage(event) }));
  return { notifications, nextPageToken };
};

const acknowledge: Functions['acknowledgeNotifications'] = async ({ store }, call, { ids }) => ({
  acknowledged: await acknowledgeNotifications(store, inboxOf(call), ids),
});

export const notificationFunctions = {
  listNotifications: listNotificationsCall,
  acknowledgeNotifications: acknowledge,
} satisfies Functions;
