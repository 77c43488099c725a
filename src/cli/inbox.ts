import { EventKind, ListNotificationsResponseSchema, type Notification } from '@holdfast/proto/history';
import type { Command } from 'commander';
import { integer } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import { eventText } from './event-text.js';
import { LARGEST_PAGE, noteMore, readPages } from './pages.js';
import type { Session } from './session.js';
import { counted } from './text.js';
import { moment } from './time.js';

interface Options {
  ack?: boolean;
  all?: boolean;
  limit: number;
}

export function inboxCommand(): Command {
  return remoteCommand(
    'inbox',
    'As a person: what you should know, newest first: work that was abandoned, tasks in quarantine',
    'holdfast inbox',
    'holdfast inbox --ack',
    'holdfast inbox --all --json',
  )
    .option('--ack', 'mark what is listed as read')
    .option('--all', 'also what you have read')
    .option('--limit <number>', 'at most so many', integer(1), 50)
    .action(
      connected<Options>(async (session, { ack, all, limit }) => {
        const { holdfast, out, project } = session;
        const answer = await readPages(
          limit,
          (page) =>
            holdfast.history.listNotifications({ project, includeAcknowledged: all ?? false, ...page }),
          ({ notifications }) => notifications,
        );
        if (ack) await acknowledge(session, answer.notifications);
        out.result(ListNotificationsResponseSchema, answer, () => {
          if (answer.notifications.length === 0) return 'Nothing new.';
          return out.table(answer.notifications, [
            ['AT', ({ event }) => moment(event?.at)],
            ['KIND', ({ event }) => EventKind[event?.kind ?? 0] ?? ''],
            ['TASK', ({ event }) => event?.taskId ?? ''],
            ['DETAILS', ({ event }) => (event ? eventText(event) : '')],
          ]);
        });
        noteMore(session, answer, limit);
      }),
    );
}

async function acknowledge({ holdfast, out, project }: Session, listed: Notification[]): Promise<void> {
  const unread = listed.filter(({ acknowledged }) => !acknowledged);
  for (let at = 0; at < unread.length; at += LARGEST_PAGE) {
    const ids = unread.slice(at, at + LARGEST_PAGE).map(({ id }) => id);
    await holdfast.history.acknowledgeNotifications({ project, ids });
  }
  for (const notification of unread) notification.acknowledged = true;
  if (unread.length > 0) out.note(`Marked ${counted(unread.length, 'notification')} as read.`);
}
