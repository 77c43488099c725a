import { type Task, TaskStatus } from '@holdfast/proto/task';
import { columnOf } from '../board/columns.js';
import { useLive } from '../live/use-live.js';
import { taskLink } from '../route.js';

const ROW = 38;
const GAP = 8;
const CURVES = 36;
const MOST = 12;

/** What a task waits for on the left, and what waits for it on the right. */
export function DependencyGraph({ task }: { task: Task }) {
  const { live } = useLive();
  const { tasks } = live.board;
  const before = new Set(task.blockedBy);
  const after = new Set<string>(task.parentId ? [task.parentId] : []);
  for (const each of tasks.values()) {
    if (each.parentId === task.id) before.add(each.id);
    if (each.blockedBy.includes(task.id)) after.add(each.id);
  }
  if (before.size === 0 && after.size === 0)
    return <p className="nothing">Waits for nothing, and nothing waits for it.</p>;
  const [left, right] = [[...before].slice(0, MOST), [...after].slice(0, MOST)];
  const rows = Math.max(left.length, right.length, 1);
  const height = rows * (ROW + GAP) - GAP;
  return (
    <div className="graph" style={{ minHeight: height }}>
      <Side ids={left} more={before.size - left.length} none="waits for nothing" />
      <Curves count={left.length} height={height} into="right" />
      <div className="graph-self">this task</div>
      <Curves count={right.length} height={height} into="left" />
      <Side ids={right} more={after.size - right.length} none="nothing waits for it" />
    </div>
  );
}

function Side({ ids, more, none }: { ids: readonly string[]; more: number; none: string }) {
  const { live, project } = useLive();
  return (
    <ul className="graph-side">
      {ids.length === 0 && <li className="nothing">{none}</li>}
      {ids.map((id) => {
        const task = live.board.tasks.get(id);
        const column = task ? columnOf(task, live.board) : 'blocked';
        const dropped = task?.status === TaskStatus.DROPPED ? ', dropped' : '';
        return (
          <li key={id}>
            <a
              href={taskLink(project, id)}
              className={`graph-node column-${column}`}
              title={`${task?.title ?? id}: ${column}${dropped}`}
            >
              <span className="dot" />
              <span className="graph-title">{task?.title ?? id}</span>
            </a>
          </li>
        );
      })}
      {more > 0 && <li className="nothing">and {more} more</li>}
    </ul>
  );
}

function Curves({ count, height, into }: { count: number; height: number; into: 'left' | 'right' }) {
  const middle = height / 2;
  const top = middle - (count * (ROW + GAP) - GAP) / 2 + ROW / 2;
  return (
    <svg className="graph-curves" width={CURVES} height={height} aria-hidden="true">
      {Array.from({ length: count }, (_, at) => {
        const y = top + at * (ROW + GAP);
        const [from, to] = into === 'right' ? [y, middle] : [middle, y];
        return <path key={y} d={`M0 ${from}C${CURVES / 2} ${from} ${CURVES / 2} ${to} ${CURVES} ${to}`} />;
      })}
    </svg>
  );
}
