import { EventKind } from '@holdfast/proto/history';
import { type Task, TaskStatus } from '@holdfast/proto/task';
import { columnOf } from '../board/columns.js';
import { useLive, usePlace } from '../live/use-live.js';
import { taskLink } from '../route.js';
import { Icon } from '../ui/icon.js';
import { RelativeTime } from '../ui/relative-time.js';
import { msOf } from '../ui/time.js';

/** Tasks that are quarantined, and those whose last lease ran out and that nobody took up since. */
export function Abandoned() {
  const { live } = useLive();
  const { board, log } = live;
  const tasks = [...board.tasks.values()];
  const quarantined = tasks.filter(({ status }) => status === TaskStatus.QUARANTINED);
  const expired = tasks.filter(
    (task) => task.expiriesInARow > 0 && ['ready', 'blocked'].includes(columnOf(task, board)),
  );
  const expiredAt = new Map(
    log.events
      .filter(({ kind }) => kind === EventKind.LEASE_EXPIRED)
      .map(({ taskId, at }) => [taskId, msOf(at)]),
  );
  return (
    <section className="box">
      <h2>
        <Icon name="hourglass" /> Left behind{' '}
        <span className="count">{quarantined.length + expired.length}</span>
      </h2>
      {quarantined.length + expired.length === 0 ? (
        <p className="nothing">
          No work was left behind. When a lease runs out and nobody takes over, it is shown here.
        </p>
      ) : (
        <ul className="rows">
          {quarantined.map((task) => (
            <Row key={task.id} task={task} what="quarantined" tone="refused" atMs={expiredAt.get(task.id)} />
          ))}
          {expired.slice(0, 200).map((task) => (
            <Row key={task.id} task={task} what="ran out" tone="expired" atMs={expiredAt.get(task.id)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({
  task,
  what,
  tone,
  atMs,
}: {
  task: Task;
  what: string;
  tone: string;
  atMs: number | undefined;
}) {
  const { project } = usePlace();
  return (
    <li className={`row tone-${tone}`}>
      <a href={taskLink(project, task.id)}>{task.title}</a>
      <span className="row-more">
        {what} after {task.expiriesInARow === 1 ? 'one lease' : `${task.expiriesInARow} leases in a row`}{' '}
        <RelativeTime atMs={atMs} />
      </span>
    </li>
  );
}
