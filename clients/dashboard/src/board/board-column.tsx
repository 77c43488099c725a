import { type Task, TaskStatus } from '@holdfast/proto/task';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { Board } from '../live/board.js';
import { usePlace } from '../live/use-live.js';
import type { Column } from './columns.js';
import { TaskCard } from './task-card.js';

const GAP = 8;

interface Shown {
  readonly column: Column;
  readonly title: string;
  readonly tasks: readonly Task[];
  readonly hint: string;
}

/** One column: only the cards that are in view are there. */
export function BoardColumn({ column, title, tasks, hint }: Shown) {
  const { live } = usePlace();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (column === 'progress' ? 118 : 84),
    getItemKey: (index) => tasks[index]?.id ?? index,
    gap: GAP,
    overscan: 5,
  });
  return (
    <section className={`column column-${column}`} aria-label={title} data-column={column}>
      <h2 className="column-title">
        <span className="dot" />
        {title}
        <span className="count">{tasks.length.toLocaleString('en')}</span>
      </h2>
      <div className="column-cards" ref={scroller} tabIndex={tasks.length > 0 ? -1 : 0}>
        {tasks.length === 0 && <p className="column-empty">{hint}</p>}
        <ul className="virtual" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const task = tasks[row.index];
            if (!task) return null;
            return (
              <li
                aria-setsize={tasks.length}
                aria-posinset={row.index + 1}
                className="virtual-row"
                key={row.key}
                data-index={row.index}
                ref={rows.measureElement}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <TaskCard
                  task={task}
                  column={column}
                  lease={live.board.leases.get(task.id)}
                  note={live.board.lastNotes.get(task.id)}
                  planTitle={live.board.plans.get(task.planId)?.title ?? ''}
                  waitsFor={column === 'blocked' ? unfinished(task, live.board) : ''}
                />
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

/** What a task waits for and is not done, by title; the first of them. */
function unfinished(task: Task, board: Board): string {
  const titles = task.blockedBy
    .map((id) => board.tasks.get(id))
    .filter((blocker) => blocker && blocker.status !== TaskStatus.DONE)
    .map((blocker) => blocker?.title);
  const more = titles.length > 2 ? ` and ${titles.length - 2} more` : '';
  return titles.slice(0, 2).join(', ') + more;
}
