import type { Bar, Mark } from './lanes.js';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface BarProps {
  readonly bar: Bar;
  readonly box: Box;
  readonly title: string;
  /** Where a live lease ends unless it is renewed. */
  readonly deadlineX: number | undefined;
  readonly renewals: readonly number[];
}

/** A lease: its beginning and its end have shapes of their own, so that colour is not all that tells them apart. */
export function BarShape({ bar, box, title, deadlineX, renewals }: BarProps) {
  const { x, y, width, height } = box;
  const right = x + width;
  const middle = y + height / 2;
  const textX = Math.max(4, x + (bar.takenFrom === undefined ? 10 : 15));
  const room = right - textX - 16;
  return (
    <>
      {deadlineX !== undefined && deadlineX > right && (
        <path className="promise" d={`M${right} ${y + 1}H${deadlineX}V${y + height - 1}H${right}`} />
      )}
      <rect className="body" x={x} y={y} width={width} height={height} rx="5" />
      {bar.end === 'expired' && (
        <rect className="hatching" x={x} y={y} width={width} height={height} rx="5" fill="url(#hatch)" />
      )}
      {renewals
        .filter((at) => at > x + 3 && at < right)
        .map((at) => (
          <path key={at} className="renewal" d={`M${at} ${y + height - 5}v5`} />
        ))}
      {bar.takenFrom === undefined ? (
        <circle className="begin" cx={x} cy={middle} r="4" />
      ) : (
        <path className="begin taken" d={`M${x - 7} ${middle}l7 -7 7 7 -7 7z`} />
      )}
      {room > 14 && (
        // Its edge cuts the text: SVG does not do so by itself.
        <svg x={textX} y={y} width={room} height={height} aria-hidden="true">
          <text className="bar-title" y={height / 2 + 4}>
            {title}
          </text>
        </svg>
      )}
      <EndShape end={bar.end} x={right} y={y} height={height} />
    </>
  );
}

function EndShape({ end, x, y, height }: { end: Bar['end']; x: number; y: number; height: number }) {
  const middle = y + height / 2;
  switch (end) {
    case 'completed':
      return (
        <g className="end">
          <circle cx={x} cy={middle} r="7.5" />
          <path d={`M${x - 3.5} ${middle}l2.5 2.8 4.6 -5.4`} />
        </g>
      );
    case 'released':
      return <path className="end stop" d={`M${x} ${y - 2}v${height + 4}`} />;
    case 'expired':
      return (
        <g className="end">
          <path className="glass" d={`M${x - 6} ${middle - 8}h12l-12 16h12z`} />
        </g>
      );
    case 'revoked':
      return (
        <g className="end">
          <rect x={x - 7} y={middle - 7} width="14" height="14" rx="2" />
          <path d={`M${x - 3.5} ${middle - 3.5}l7 7m0 -7l-7 7`} />
        </g>
      );
    case 'live':
      return <circle className="end pulse" cx={x} cy={middle} r="4" />;
  }
}

/** Something that happened at one moment. */
export function MarkShape({ kind, x, y }: { kind: Mark['kind']; x: number; y: number }) {
  switch (kind) {
    case 'refused':
      return (
        <>
          <circle cx={x} cy={y} r="7" />
          <path d={`M${x - 3} ${y - 3}l6 6m0 -6l-6 6`} />
        </>
      );
    case 'rejected':
      return (
        <>
          <path className="solid" d={`M${x - 4} ${y - 8}h8l4 4v8l-4 4h-8l-4 -4v-8z`} />
          <path d={`M${x - 4} ${y}h8`} />
        </>
      );
    case 'warned':
      return (
        <>
          <path className="solid" d={`M${x} ${y - 8}l8 14h-16z`} />
          <path d={`M${x} ${y - 3}v4m0 2.4v.4`} />
        </>
      );
    case 'overridden':
      return (
        <>
          <path className="solid" d={`M${x} ${y - 8}l7 3v5c0 4 -3 6 -7 8c-4 -2 -7 -4 -7 -8v-5z`} />
          <path d={`M${x - 2.5} ${y}l2 2.2 3.4 -4`} />
        </>
      );
    case 'note':
      return (
        <>
          <path className="solid" d={`M${x - 5} ${y - 6}h10v8l-4 4h-6z`} />
          <path d={`M${x - 2.5} ${y - 2.5}h5m-5 3h3`} />
        </>
      );
  }
}
