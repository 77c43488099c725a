import { type Task, TaskStatus } from '@holdfast/proto/task';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { type Column, columnOf } from '../board/columns.js';
import { Countdown } from '../board/countdown.js';
import { useLive } from '../live/use-live.js';
import { describe } from '../timeline/describe.js';
import { toneOf } from '../timeline/event-list.js';
import { HolderName } from '../ui/holder-name.js';
import { Icon } from '../ui/icon.js';
import { RelativeTime } from '../ui/relative-time.js';
import { msOf } from '../ui/time.js';
import { DependencyGraph } from './dependency-graph.js';
import { Notes } from './notes.js';
import { TaskActions } from './task-actions.js';
import { useTask } from './use-task.js';

const STATUS: Readonly<Record<Column, string>> = {
  ready: 'Ready',
  progress: 'In progress',
  blocked: 'Blocked',
  quarantined: 'Quarantined',
  done: 'Done',
};

/** Everything of one task, beside the page that led to it. */
export function TaskPanel({ taskId, closeLink }: { taskId: string; closeLink: string }) {
  const { live } = useLive();
  const { found, history, problem, read } = useTask(taskId);
  const panel = useRef<HTMLElement>(null);
  useFocusWhileOpen(panel, taskId);
  const task = live.board.tasks.get(taskId) ?? found?.task;
  return (
    <aside className="panel" aria-label="Task" ref={panel} tabIndex={-1}>
      <a
        className="button quiet icon-only panel-close"
        href={closeLink}
        aria-label="Close"
        title="Close (Esc)"
      >
        <Icon name="cross" />
      </a>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {task && <Header task={task} />}
      {task && found?.task && <TaskActions task={found.task} read={read} />}
      {task && found?.task && <Content task={{ ...found.task, ...task, body: found.task.body }} />}
      {task && (
        <section>
          <h3>Dependencies</h3>
          <DependencyGraph task={task} />
        </section>
      )}
      {task && found && <Notes task={task} notes={found.notes} read={read} />}
      {history.length > 0 && (
        <section>
          <h3>History</h3>
          <ol>
            {history.map((event) => (
              <li key={String(event.position)} className={`event tone-${toneOf(event.kind)}`}>
                <RelativeTime atMs={msOf(event.at)} />
                <span className="event-text">{describe(event)}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </aside>
  );
}

/** The panel has the focus; when it is closed, its card gets it, or what had it before. */
function useFocusWhileOpen(panel: RefObject<HTMLElement | null>, taskId: string): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const opened = panel.current;
    opened?.focus();
    return () => {
      // Who went elsewhere meanwhile stays there.
      const { activeElement } = document;
      if (activeElement !== document.body && !opened?.contains(activeElement)) return;
      const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(taskId)}"]`);
      if (card) card.focus();
      else if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [panel, taskId]);
}

function Header({ task }: { task: Task }) {
  const { live } = useLive();
  const lease = live.board.leases.get(task.id);
  const column = columnOf(task, live.board);
  return (
    <header className="panel-head">
      <span className={`status column-${column}`}>
        <span className="dot" />
        {task.status === TaskStatus.DROPPED ? 'Dropped' : STATUS[column]}
      </span>
      <h2>{task.title}</h2>
      {lease && (
        <div className="lease">
          <HolderName holder={lease.holder} />
          <Countdown lease={lease} />
          <span className="lease-terms">
            fencing token {String(lease.fencingToken)} · attempt {lease.attempt} · granted{' '}
            <RelativeTime atMs={lease.grantedAtMs} />
          </span>
        </div>
      )}
    </header>
  );
}

function Content({ task }: { task: Task }) {
  const { live } = useLive();
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['Plan', live.board.plans.get(task.planId)?.title],
    ['Priority', task.priority || undefined],
    ['Labels', task.labels.join(', ')],
    ['Assignee', task.assignee],
    ['Grants', task.attempt > 0 ? `${task.attempt}, newest token ${task.fencingToken}` : undefined],
    ['Created', created(task)],
    ['Closed', task.closedAt && closed(task)],
    ['Key', task.externalKey],
    ['Id', <code key="id">{task.id}</code>],
  ];
  return (
    <section>
      {task.body && <p className="prose">{task.body}</p>}
      {task.result && (
        <>
          <h3>{task.status === TaskStatus.DROPPED ? 'Why it was dropped' : 'Result'}</h3>
          <p className="prose">{task.result}</p>
        </>
      )}
      <dl className="facts">
        {facts.map(([name, value]) =>
          value ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ) : null,
        )}
      </dl>
    </section>
  );
}

const created = (task: Task) => (
  <>
    by {task.createdBy} <RelativeTime atMs={msOf(task.createdAt)} />
  </>
);

const closed = (task: Task) => (
  <>
    by {task.closedBy} <RelativeTime atMs={msOf(task.closedAt)} />
  </>
);
