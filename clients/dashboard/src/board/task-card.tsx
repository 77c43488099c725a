import { type Task, TaskStatus } from '@holdfast/proto/task';
import { memo, useEffect } from 'react';
import type { HeldLease, LastNote } from '../live/board.js';
import { usePlace } from '../live/use-live.js';
import { taskLink } from '../route.js';
import { HolderName } from '../ui/holder-name.js';
import { Icon } from '../ui/icon.js';
import { RelativeTime } from '../ui/relative-time.js';
import { msOf } from '../ui/time.js';
import type { Column } from './columns.js';
import { Countdown } from './countdown.js';

interface Shown {
  readonly task: Task;
  readonly column: Column;
  readonly lease: HeldLease | undefined;
  readonly note: LastNote | null | undefined;
  readonly planTitle: string;
  /** The titles of what a blocked task waits for. */
  readonly waitsFor: string;
}

/** One task on the board. */
export const TaskCard = memo(function TaskCard({ task, column, lease, note, planTitle, waitsFor }: Shown) {
  const { project, live } = usePlace();
  const held = lease !== undefined;
  useEffect(() => {
    if (held && note === undefined) live.read(task.id);
  }, [held, note, live, task.id]);
  return (
    <a className={`card in-${column}`} href={taskLink(project, task.id)} data-card={task.id}>
      <span className="card-title">
        {task.status === TaskStatus.DROPPED && <span className="tag">dropped</span>}
        {task.title}
      </span>
      {lease && (
        <span className="card-held">
          <HolderName holder={lease.holder} />
          <Countdown lease={lease} />
        </span>
      )}
      {lease && note?.text && (
        <span className="card-note">
          <Icon name="note" />
          <span className="clamp">{note.text}</span>
        </span>
      )}
      {column === 'blocked' && (
        <span className="card-note">
          <Icon name="lock" />
          <span className="clamp">waits for {waitsFor || `${task.unmetDependencies} unfinished`}</span>
        </span>
      )}
      {column === 'quarantined' && (
        <span className="card-note">
          <Icon name="hourglass" />
          <span className="clamp">{task.expiriesInARow} leases in a row ran out</span>
        </span>
      )}
      {column === 'done' && task.result && (
        <span className="card-note">
          <span className="clamp">{task.result}</span>
        </span>
      )}
      <CardFoot task={task} planTitle={planTitle} attempt={lease?.attempt ?? task.attempt} />
    </a>
  );
});

function CardFoot({ task, planTitle, attempt }: { task: Task; planTitle: string; attempt: number }) {
  const closed = task.status === TaskStatus.DONE || task.status === TaskStatus.DROPPED;
  return (
    <span className="card-foot">
      {planTitle && <span className="plan-name">{planTitle}</span>}
      {task.priority !== 0 && <span className="tag">priority {task.priority}</span>}
      {task.labels.map((label) => (
        <span className="tag" key={label}>
          {label}
        </span>
      ))}
      {task.assignee && !closed && <span className="tag">for {task.assignee}</span>}
      {attempt > 1 && <span className="tag attempt">attempt {attempt}</span>}
      {closed && (
        <span className="closed-by">
          {task.closedBy} <RelativeTime atMs={msOf(task.closedAt)} />
        </span>
      )}
    </span>
  );
}
