import { useMemo } from 'react';
import { usePlace } from '../live/use-live.js';
import { Icon } from '../ui/icon.js';
import { type Filter, isFiltered, NO_FILTER } from './columns.js';

/** Search and filters of the board. */
export function BoardFilters({ filter, onFilter }: { filter: Filter; onFilter: (filter: Filter) => void }) {
  const { live } = usePlace();
  const { board, version } = live;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the board is changed in place; its version tells.
  const { labels, principals } = useMemo(() => {
    const tasks = [...board.tasks.values()];
    return {
      labels: distinct(tasks.flatMap((task) => task.labels)),
      principals: distinct([
        ...[...board.leases.values()].map(({ holder }) => holder?.principal ?? ''),
        ...tasks.map(({ assignee }) => assignee),
      ]),
    };
  }, [board, version]);
  const set = (change: Partial<Filter>) => onFilter({ ...filter, ...change });
  return (
    <search className="filters">
      <label className="search">
        <Icon name="search" />
        <span className="visually-hidden">Search</span>
        <input
          type="search"
          placeholder="Search title, label, holder…"
          value={filter.text}
          data-search
          onChange={(event) => set({ text: event.target.value })}
        />
      </label>
      <Choice name="Label" value={filter.label} among={labels} onChoose={(label) => set({ label })} />
      <Choice
        name="Who"
        value={filter.principal}
        among={principals}
        onChoose={(principal) => set({ principal })}
      />
      {isFiltered(filter) && (
        <button type="button" className="button quiet" onClick={() => onFilter(NO_FILTER)}>
          <Icon name="cross" /> Clear
        </button>
      )}
    </search>
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  among: readonly string[];
  onChoose: (value: string) => void;
}

function Choice({ name, value, among, onChoose }: ChoiceProps) {
  if (among.length === 0 && !value) return null;
  return (
    <label className="choice">
      <span className="visually-hidden">{name}</span>
      <select value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{name}: all</option>
        {among.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}

const distinct = (values: readonly string[]): string[] =>
  [...new Set(values)].filter(Boolean).sort().slice(0, 200);
