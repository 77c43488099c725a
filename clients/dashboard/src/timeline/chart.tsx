import { type FocusEvent, type MouseEvent, useState } from 'react';
import { taskLink } from '../route.js';
import { shortExecution } from '../ui/holder-name.js';
import { exact, relative, span } from '../ui/time.js';
import { ticks } from './axis.js';
import { type Cluster, clustersOf } from './clusters.js';
import { describe } from './describe.js';
import type { Bar } from './lanes.js';
import { AXIS, type Layout, type PlacedLane } from './layout.js';
import { BarShape, MarkShape } from './shapes.js';
import type { View } from './use-view.js';

interface Shown {
  readonly layout: Layout;
  /** The lanes that are drawn. */
  readonly inView: readonly PlacedLane[];
  readonly view: View;
  readonly width: number;
  readonly nowMs: number;
  readonly project: string;
  readonly titleOf: (taskId: string) => string;
  readonly renewalsOf: (bar: Bar) => readonly number[];
}

interface Tip {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly lines: readonly string[];
}

/** The lanes themselves. Bars and marks are links to their tasks. */
export function Chart({ layout, inView, view, width, nowMs, project, titleOf, renewalsOf }: Shown) {
  const [tip, setTip] = useState<Tip>();
  const { x, height } = layout;
  const bars = inView.flatMap(({ lane }) => lane.bars);
  const msPerPx = (view.toMs - view.fromMs) / width;
  const clusters = inView.flatMap(({ lane }) => clustersOf(lane.marks, msPerPx));

  const tipOn = (text: Pick<Tip, 'title' | 'lines'>) => {
    const show = (event: MouseEvent | FocusEvent) => {
      const box = event.currentTarget.getBoundingClientRect();
      const chart = event.currentTarget.closest('.chart')?.getBoundingClientRect();
      if (!chart) return;
      const middle = 'clientX' in event ? event.clientX : box.left + Math.min(box.width, 200) / 2;
      setTip({ x: middle - chart.left, y: box.bottom - chart.top, ...text });
    };
    const hide = () => setTip(undefined);
    return { onMouseEnter: show, onFocus: show, onMouseLeave: hide, onBlur: hide };
  };

  return (
    <section className="chart" aria-label="Leases over time" style={{ height }}>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the section names it; a title would cover the bars as a tooltip. */}
      <svg width={width} height={height}>
        <defs>
          <pattern
            id="hatch"
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect className="hatch-line" width="2.4" height="6" />
          </pattern>
        </defs>
        {inView.map(({ lane, odd, top, height: laneHeight }) => (
          <rect
            key={lane.key}
            className={odd ? 'lane odd' : 'lane'}
            y={top}
            width={width}
            height={laneHeight}
          />
        ))}
        {ticks(view.fromMs, view.toMs, width)
          .filter(({ atMs }) => Math.abs(x(atMs) - x(nowMs)) > 44)
          .map(({ atMs, label }) => (
            <g key={atMs} transform={`translate(${x(atMs)} 0)`} className="tick">
              <line y1={AXIS - 6} y2={height} />
              <text y={AXIS - 11}>{label}</text>
            </g>
          ))}
        <Bounces clusters={clusters} layout={layout} />
        <Successions bars={bars} layout={layout} />
        {bars.map((bar) => {
          const box = layout.box(bar);
          if (!box) return null;
          const lines = barLines(bar, nowMs);
          return (
            <a
              key={bar.key}
              href={taskLink(project, bar.taskId)}
              className={`bar bar-${bar.end}`}
              aria-label={`${titleOf(bar.taskId)}. ${lines.join('. ')}`}
              data-task={bar.taskId}
              data-end={bar.end}
              draggable="false"
              {...tipOn({ title: titleOf(bar.taskId), lines })}
            >
              <BarShape
                bar={bar}
                box={box}
                title={titleOf(bar.taskId)}
                deadlineX={bar.end === 'live' ? Math.min(width, x(bar.endMs)) : undefined}
                renewals={renewalsOf(bar).map(x)}
              />
            </a>
          );
        })}
        {clusters.map((cluster) => {
          const { key, newest: mark, count } = cluster;
          const spot = layout.spot(mark);
          if (!spot) return null;
          const lines = markLines(cluster, nowMs);
          return (
            <a
              key={key}
              href={taskLink(project, mark.taskId)}
              className={`mark mark-${mark.kind}`}
              aria-label={`${titleOf(mark.taskId)}. ${lines.join('. ')}`}
              data-mark={mark.kind}
              data-count={count}
              draggable="false"
              {...tipOn({ title: titleOf(mark.taskId), lines })}
            >
              {/* A pile: a number beside each would cover the next. */}
              {count > 1 && <MarkShape kind={mark.kind} x={spot.x + 2.5} y={spot.y - 2.5} />}
              <MarkShape kind={mark.kind} x={spot.x} y={spot.y} />
            </a>
          );
        })}
        <g className="now" transform={`translate(${x(nowMs)} 0)`}>
          <line y1={AXIS - 4} y2={height} />
          <rect x="-16" y="3" width="32" height="17" rx="8.5" />
          <text y="15">now</text>
        </g>
      </svg>
      {tip && (
        <div className="tip" style={{ left: Math.min(Math.max(8, tip.x - 20), width - 300), top: tip.y + 8 }}>
          <strong>{tip.title}</strong>
          {tip.lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </div>
      )}
    </section>
  );
}

function when(atMs: number, nowMs: number): string {
  return `${relative(atMs, nowMs)} · ${exact(atMs)}`;
}

function barLines(bar: Bar, nowMs: number): string[] {
  const [principal = '', executionId = ''] = bar.lane.split('\n');
  const who = `${principal}, execution ${shortExecution({ $typeName: 'holdfast.v1.Holder', principal, executionId })}`;
  const attempt = bar.attempt > 1 ? `, attempt ${bar.attempt}` : '';
  const lines = [`${who}: token ${bar.fencingToken}${attempt}`];
  if (bar.end === 'live') {
    const left = bar.endMs - nowMs;
    lines.push(left > 0 ? `held; ends in ${span(left)} unless it is renewed` : 'lapsed');
  } else if (bar.event) {
    lines.push(describe(bar.event));
  }
  const began = bar.startKnown ? `from ${exact(bar.startMs)}` : 'began before what is shown';
  const lasted = bar.end === 'live' ? span(nowMs - bar.startMs) : span(bar.endMs - bar.startMs);
  lines.push(bar.startKnown ? `${began}, ${lasted}` : began);
  return lines;
}

function markLines({ newest, count, fromMs }: Cluster, nowMs: number): string[] {
  const lines = [describe(newest.event), when(newest.atMs, nowMs)];
  if (count > 1) lines.push(`the newest of ${count.toLocaleString('en')} like it since ${exact(fromMs)}`);
  return lines;
}

/** From each refusal to the lease that it bounced off. */
function Bounces({ clusters, layout }: { clusters: readonly Cluster[]; layout: Layout }) {
  return clusters.map(({ key, newest: mark }) => {
    const from = layout.spot(mark);
    const to = layout.obstacle(mark);
    if (!from || !to || mark.kind === 'note') return null;
    const bend = 14;
    return (
      <g key={key} className={`bounce bounce-${mark.kind}`}>
        <path
          d={`M${from.x} ${from.y}C${from.x - bend} ${(from.y + to.y) / 2} ${to.x - bend} ${(from.y + to.y) / 2} ${to.x} ${to.y}`}
        />
        <circle cx={to.x} cy={to.y} r="3.5" />
      </g>
    );
  });
}

/** From the end of a lease to the one that took over from it. */
function Successions({ bars, layout }: { bars: readonly Bar[]; layout: Layout }) {
  return bars.map((bar) => {
    if (bar.takenFrom === undefined) return null;
    const lane = layout.lanes.find((each) => each.lane.key === bar.takenFrom)?.lane;
    const before = lane?.bars.find(
      (each) =>
        each.taskId === bar.taskId && each.fencingToken === bar.fencingToken - 1n && each.end !== 'live',
    );
    const from = before && layout.box(before);
    const to = layout.box(bar);
    if (!from || !to) return null;
    const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
    const [x2, y2] = [to.x, to.y + to.height / 2];
    const middle = Math.max(x1, (x1 + x2) / 2);
    return (
      <path
        key={bar.key}
        className="succession"
        d={`M${x1} ${y1}C${middle + 12} ${y1} ${middle - 12} ${y2} ${x2} ${y2}`}
      />
    );
  });
}
