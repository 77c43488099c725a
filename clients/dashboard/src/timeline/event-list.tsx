import { type Event, EventKind } from '@holdfast/proto/history';
import { memo } from 'react';
import { taskLink } from '../route.js';
import { RelativeTime } from '../ui/relative-time.js';
import { msOf } from '../ui/time.js';
import { describe } from './describe.js';

const SHOWN = 60;

/** How an event is marked in a list. */
export function toneOf(kind: EventKind): string {
  switch (kind) {
    case EventKind.LEASE_ACQUIRED:
      return 'live';
    case EventKind.LEASE_TAKEN_OVER:
      return 'taken';
    case EventKind.LEASE_EXPIRED:
    case EventKind.TASK_QUARANTINED:
    case EventKind.WRITE_WARNED:
      return 'expired';
    case EventKind.LEASE_REVOKED:
    case EventKind.WRITE_REJECTED:
    case EventKind.ACQUIRE_REFUSED:
      return 'refused';
    case EventKind.TASK_COMPLETED:
      return 'completed';
    default:
      return 'plain';
  }
}

interface Shown {
  readonly events: readonly Event[];
  readonly project: string;
  readonly titleOf: (taskId: string) => string;
}

/** The same as the picture above, in words: newest first. */
export function EventList({ events, project, titleOf }: Shown) {
  if (events.length === 0) return null;
  return (
    <section className="events" aria-label="What happened">
      <h2>What happened</h2>
      <ol>
        {events
          .slice(-SHOWN)
          .toReversed()
          .map((event) => (
            <li key={String(event.position)} className={`event tone-${toneOf(event.kind)}`}>
              <RelativeTime atMs={msOf(event.at)} />
              <EventText event={event} project={project} title={event.taskId && titleOf(event.taskId)} />
            </li>
          ))}
      </ol>
    </section>
  );
}

const EventText = memo(function EventText({
  event,
  project,
  title,
}: {
  event: Event;
  project: string;
  title: string;
}) {
  return (
    <>
      {title && <a href={taskLink(project, event.taskId)}>{title}</a>}
      <span className="event-text">{describe(event)}</span>
    </>
  );
});
