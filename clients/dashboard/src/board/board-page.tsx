import { type KeyboardEvent, useMemo, useState } from 'react';
import { useLive, usePlace } from '../live/use-live.js';
import { pageLink } from '../route.js';
import { Empty } from '../ui/empty.js';
import { BoardColumn } from './board-column.js';
import { BoardFilters } from './board-filters.js';
import {
  COLUMNS,
  type Column,
  columnsOf,
  type Filter,
  isFiltered,
  NO_FILTER,
  planProgress,
} from './columns.js';
import { PlanStrip } from './plan-strip.js';

const TITLES: Readonly<Record<Column, string>> = {
  ready: 'Ready',
  progress: 'In progress',
  blocked: 'Blocked',
  quarantined: 'Quarantined',
  done: 'Done',
};

const HINTS: Readonly<Record<Column, string>> = {
  ready: 'Nothing can be taken now.',
  progress: 'Nobody holds a task. Agents take one with `holdfast claim` or over MCP.',
  blocked: 'Nothing waits for anything.',
  quarantined: 'No task lost its holders again and again.',
  done: 'Nothing is finished yet.',
};

/** Every task where it stands. */
export function BoardPage({ filter, onFilter }: { filter: Filter; onFilter: (filter: Filter) => void }) {
  const { live } = useLive();
  const { version, board, loaded } = live;
  const [tab, setTab] = useState<Column>('progress');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the board is changed in place; its version tells.
  const columns = useMemo(() => columnsOf(board, filter), [board, version, filter]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const plans = useMemo(() => planProgress(board), [board, version]);

  if (loaded === 'all' && board.tasks.size === 0) return <NoTasks />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows only move the focus between links inside.
    <div className="board-page" onKeyDown={moveFocus}>
      <PlanStrip
        plans={plans}
        chosen={filter.planId}
        onChoose={(planId) => onFilter({ ...filter, planId })}
      />
      <BoardFilters filter={filter} onFilter={onFilter} />
      <fieldset className="board-tabs">
        <legend className="visually-hidden">Column</legend>
        {COLUMNS.map((column) => (
          <button key={column} type="button" aria-pressed={tab === column} onClick={() => setTab(column)}>
            {TITLES[column]} <span className="count">{columns[column].length}</span>
          </button>
        ))}
      </fieldset>
      {loaded !== 'all' && (
        <p className="loading" role="status">
          Reading the board{loaded > 0 ? `: ${loaded.toLocaleString('en')} tasks so far` : ''}…
        </p>
      )}
      <div className="board" data-tab={tab}>
        {COLUMNS.map((column) => (
          <BoardColumn
            key={column}
            column={column}
            title={TITLES[column]}
            tasks={columns[column]}
            hint={isFiltered(filter) ? 'Nothing here passes the filter.' : HINTS[column]}
          />
        ))}
      </div>
      {isFiltered(filter) && COLUMNS.every((column) => columns[column].length === 0) && (
        <Empty title="No task passes the filter">
          <button type="button" className="button" onClick={() => onFilter(NO_FILTER)}>
            Show all tasks
          </button>
        </Empty>
      )}
    </div>
  );
}

/** What to do next is a matter of who looks. */
function NoTasks() {
  const { project, session } = usePlace();
  if (!session.canWrite) {
    return (
      <Empty title="No tasks yet">
        <p>They appear here as soon as somebody makes one.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No tasks yet">
      <p>Turn a checklist into tasks, or add one. They appear here at once.</p>
      <pre>npx holdfast import PLAN.md{'\n'}npx holdfast task add "Write the changelog"</pre>
      {session.me.owner && (
        <>
          <p>
            Or see two agents race for a step, in a project of its own. The{' '}
            <a href={pageLink(project, 'timeline')}>timeline</a> shows it as it happens:
          </p>
          <pre>npx holdfast demo --against {location.origin}</pre>
        </>
      )}
    </Empty>
  );
}

/** Arrows move between the cards: up and down in a column, left and right between columns. */
function moveFocus(event: KeyboardEvent): void {
  const card = (event.target as HTMLElement).closest<HTMLElement>('[data-card]');
  if (!card || !event.key.startsWith('Arrow') || event.altKey || event.ctrlKey || event.metaKey) return;
  const column = card.closest<HTMLElement>('[data-column]');
  const cards = (of: Element | null | undefined) => [
    ...(of?.querySelectorAll<HTMLElement>('[data-card]') ?? []),
  ];
  let next: HTMLElement | undefined;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const own = cards(column);
    next = own[own.indexOf(card) + (event.key === 'ArrowDown' ? 1 : -1)];
  } else {
    const filled = [...document.querySelectorAll('[data-column]')].filter((each) => cards(each).length > 0);
    const at = filled.indexOf(column as Element) + (event.key === 'ArrowRight' ? 1 : -1);
    next = cards(filled[at])[0];
  }
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
