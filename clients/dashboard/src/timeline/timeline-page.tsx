import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useLive } from '../live/use-live.js';
import { Empty } from '../ui/empty.js';
import { shortExecution } from '../ui/holder-name.js';
import { Icon, type IconName } from '../ui/icon.js';
import { span } from '../ui/time.js';
import { useKeys } from '../ui/use-keys.js';
import { Chart } from './chart.js';
import { EventList } from './event-list.js';
import { type Bar, drawUp, lanesBetween } from './lanes.js';
import { layOut } from './layout.js';
import { Legend } from './legend.js';
import { useGestures, useView } from './use-view.js';

/** A page of history that could not be read is asked for again after this. In ms. */
const AGAIN_MS = 2_000;

/** As much as is readable on the width there is, but no more than has happened yet. In ms. */
function firstSpanMs(oldestMs: number | undefined, nowMs: number): number {
  const readable = Math.min(150_000, Math.max(30_000, innerWidth * 90));
  return oldestMs === undefined ? readable : Math.min(readable, Math.max(8_000, (nowMs - oldestMs) * 1.25));
}

/** Who held what, when, and who bounced off whom. */
export function TimelinePage() {
  const { live, project } = useLive();
  const { log, board, renewals, clock, version } = live;
  const nowMs = useCallback(() => clock.now(), [clock]);
  const oldestMs = log.events[0]?.at && timestampMs(log.events[0].at);
  const controls = useView(nowMs, firstSpanMs(oldestMs, nowMs()));
  const { view, zoom, pan, follow, show } = controls;
  const [scrolled, setScrolled] = useState(0);
  const chart = useRef<HTMLDivElement>(null);
  const width = useWidth(chart);
  useGestures(chart, controls);

  const readFromMs = oldestMs ?? view.fromMs;
  // biome-ignore lint/correctness/useExhaustiveDependencies: log and board are changed in place; their version tells.
  const drawn = useMemo(
    () => drawUp(log.events, board.leases, readFromMs),
    [log, board, version, readFromMs],
  );
  const { lanes, leftOut } = lanesBetween(drawn, view.fromMs, view.toMs);
  const now = nowMs();
  const layout = layOut(lanes, view, width, now);
  // Lanes that are scrolled out of sight are not drawn.
  const inView = layout.lanes.filter(
    ({ top, height }) => top + height > scrolled - innerHeight / 2 && top < scrolled + innerHeight * 1.5,
  );

  // Panned to the edge of what was read: read on.
  const wantsOlder = view.fromMs < readFromMs && log.canGrow && live.loaded === 'all';
  const oldest = log.events[0]?.position;
  const [failures, setFailures] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that came and each that did not asks for the next.
  useEffect(() => {
    if (!wantsOlder) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let left = false;
    live.loadOlder().catch(() => {
      if (!left) timer = setTimeout(() => setFailures((count) => count + 1), AGAIN_MS);
    });
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [wantsOlder, oldest, failures, live]);
  useEffect(() => {
    if (view.following) log.forgetOlder();
    return () => log.forgetOlder();
  }, [view.following, log]);

  useKeys(
    new Map([
      ['+', () => zoom(0.6)],
      ['=', () => zoom(0.6)],
      ['-', () => zoom(1 / 0.6)],
      ['ArrowLeft', () => pan(-0.2)],
      ['ArrowRight', () => pan(0.2)],
      ['n', follow],
      ['f', () => show(readFromMs)],
    ]),
  );

  const titleOf = (taskId: string) => live.titleOf(taskId);
  const renewalsOf = ({ key }: Bar) => renewals.get(key) ?? [];
  const last = log.events.at(-1);

  return (
    <div className="timeline-page" onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}>
      <div className="timeline-tools" role="toolbar" aria-label="Zoom and pan">
        <IconButton name="Earlier" shortcut="←" icon="back" onClick={() => pan(-0.5)} />
        <IconButton name="Zoom out" shortcut="−" icon="minus" onClick={() => zoom(1 / 0.6)} />
        <span className="span" aria-live="polite">
          {span(view.toMs - view.fromMs)}
        </span>
        <IconButton name="Zoom in" shortcut="+" icon="plus" onClick={() => zoom(0.6)} />
        <button
          type="button"
          className="button"
          onClick={() => show(readFromMs)}
          title="Show all that was read (F)"
        >
          <Icon name="fit" /> All
        </button>
        <button
          type="button"
          className="button"
          aria-pressed={view.following}
          onClick={follow}
          title="Follow the present (N)"
        >
          <Icon name="now" /> Now
        </button>
        <Legend />
      </div>
      <div className="lanes">
        <div className="lane-names" style={{ height: layout.height }}>
          {inView.map(({ lane, top, height }) => (
            <div
              key={lane.key}
              className="lane-name"
              style={{ top, height }}
              title={`${lane.principal}, execution ${lane.executionId}`}
            >
              <strong>{lane.principal || 'nobody'}</strong>
              <span>{shortExecution({ $typeName: 'holdfast.v1.Holder', ...lane })}</span>
            </div>
          ))}
        </div>
        <div className="chart-box" ref={chart}>
          <Chart
            layout={layout}
            inView={inView}
            view={view}
            width={width}
            nowMs={now}
            project={project}
            titleOf={titleOf}
            renewalsOf={renewalsOf}
          />
        </div>
      </div>
      {leftOut > 0 && (
        <p className="left-out">
          {leftOut.toLocaleString('en')} older leases are not drawn: too many to tell apart. Zoom in to see
          them.
        </p>
      )}
      {lanes.length === 0 &&
        (last ? (
          <Empty title="No lease in this stretch of time">
            <button
              type="button"
              className="button"
              onClick={() => show(last.at ? timestampMs(last.at) - 60_000 : now)}
            >
              Show the last ones
            </button>
          </Empty>
        ) : (
          live.loaded === 'all' && (
            <Empty title="Nobody has held a task yet">
              <p>Leases appear here as they are granted. See two agents race for one step:</p>
              <pre>npx holdfast demo --against {location.origin}</pre>
            </Empty>
          )
        ))}
      <EventList events={log.events} project={project} titleOf={titleOf} />
    </div>
  );
}

function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const observer = new ResizeObserver(() => setWidth(target.clientWidth));
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

interface IconButtonProps {
  readonly name: string;
  /** The key that does the same. */
  readonly shortcut: string;
  readonly icon: IconName;
  readonly onClick: () => void;
}

function IconButton({ name, shortcut, icon, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      className="button icon-only"
      onClick={onClick}
      aria-label={name}
      title={`${name} (${shortcut})`}
    >
      <Icon name={icon} />
    </button>
  );
}
