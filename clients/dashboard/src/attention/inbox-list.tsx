import { explain } from '@holdfast/client';
import { useLive } from '../live/use-live.js';
import { taskLink } from '../route.js';
import { describe } from '../timeline/describe.js';
import { toneOf } from '../timeline/event-list.js';
import { Icon } from '../ui/icon.js';
import { RelativeTime } from '../ui/relative-time.js';
import { msOf } from '../ui/time.js';
import { toast } from '../ui/toasts.js';
import { useInbox } from './inbox.js';

const SHOWN = 200;

/** What the caller was notified of and did not acknowledge. */
export function InboxList() {
  const { live, project, session } = useLive();
  const { notifications, acknowledge } = useInbox();
  // Visitors share one inbox: none of them clears it for the others.
  const mayClear = session.me.principal !== 'visitor';
  const done = (ids: readonly string[]) => {
    acknowledge(ids).catch((error) => toast(explain(error), 'bad'));
  };
  return (
    <section className="box">
      <h2>
        <Icon name="bell" /> Inbox <span className="count">{notifications.length}</span>
        {mayClear && notifications.length > 1 && (
          <button
            type="button"
            className="button quiet box-action"
            onClick={() => done(notifications.map(({ id }) => id))}
          >
            Mark all as read
          </button>
        )}
      </h2>
      {notifications.length === 0 && <p className="nothing">Nothing unread.</p>}
      <ul className="rows">
        {notifications.slice(0, SHOWN).map(({ id, event }) =>
          event ? (
            <li key={id} className={`row tone-${toneOf(event.kind)}`}>
              {event.taskId && <a href={taskLink(project, event.taskId)}>{live.titleOf(event.taskId)}</a>}
              <span className="row-more">
                {describe(event)} <RelativeTime atMs={msOf(event.at)} />
              </span>
              {mayClear && (
                <button
                  type="button"
                  className="button quiet icon-only"
                  aria-label="Mark as read"
                  title="Mark as read"
                  onClick={() => done([id])}
                >
                  <Icon name="check" />
                </button>
              )}
            </li>
          ) : null,
        )}
      </ul>
    </section>
  );
}
