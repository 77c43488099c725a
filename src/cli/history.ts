import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { EventKind, HistoryOrder, ListHistoryResponseSchema } from '@holdfast/proto/history';
import type { Command } from 'commander';
import { each, enumValue, integer } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import { eventText } from './event-text.js';
import { noteMore, readPages } from './pages.js';
import { taskId } from './references.js';
import { moment as momentText } from './time.js';
import { moment } from './time-arguments.js';

interface Options {
  task?: string;
  actor?: string;
  kind?: EventKind[];
  since?: Timestamp;
  until?: Timestamp;
  oldestFirst?: boolean;
  limit: number;
}

export function historyCommand(): Command {
  return remoteCommand(
    'history',
    'List what happened, newest first',
    'holdfast history --task 0192…',
    'holdfast history --kind lease-expired --since 24h',
    'holdfast history --execution run-42 --oldest-first --json',
  )
    .option('--task <task>', 'only of this task')
    .option('--actor <principal>', 'only what this principal did')
    .option(
      '--kind <kind>',
      'only this kind, such as lease-expired; may be given again',
      each(enumValue<EventKind>(EventKind)),
    )
    .option('--since <time>', 'from when on: 2026-03-01T09:15:00Z or how long ago, 2h', moment)
    .option('--until <time>', 'before when', moment)
    .option('--oldest-first', 'begin at the other end')
    .option('--limit <number>', 'at most so many', integer(1), 50)
    .action(
      connected<Options & { execution?: string }>(async (session, options) => {
        const { holdfast, out, project } = session;
        const filter = {
          project,
          taskId: options.task ? await taskId(session, options.task) : '',
          actor: options.actor ?? '',
          // Here the environment's execution is no filter: who looks wants to see the others, too.
          executionId: options.execution ?? '',
          kinds: options.kind ?? [],
          order: options.oldestFirst ? HistoryOrder.OLDEST_FIRST : HistoryOrder.NEWEST_FIRST,
          ...(options.since ? { since: options.since } : {}),
          ...(options.until ? { until: options.until } : {}),
        };
        const answer = await readPages(
          options.limit,
          (page) => holdfast.history.listHistory({ ...filter, ...page }),
          ({ events }) => events,
        );
        out.result(ListHistoryResponseSchema, answer, () => {
          if (answer.events.length === 0) return 'Nothing happened.';
          return out.table(answer.events, [
            ['POSITION', (event) => String(event.position)],
            ['AT', (event) => momentText(event.at)],
            ['KIND', (event) => EventKind[event.kind]],
            ['TASK', (event) => event.taskId],
            ['ACTOR', (event) => event.actor],
            ['DETAILS', eventText],
          ]);
        });
        noteMore(session, answer, options.limit);
        if (answer.floor > 0n && (options.oldestFirst || answer.nextPageToken === '')) {
          out.note(`What happened up to position ${answer.floor} is no longer kept.`);
        }
      }),
    );
}
