import type { ReactNode } from 'react';
import type { BarEnd, Mark } from './lanes.js';
import { MarkShape } from './shapes.js';

const ENDS: readonly (readonly [BarEnd, string])[] = [
  ['live', 'held'],
  ['completed', 'completed'],
  ['released', 'released'],
  ['expired', 'ran out'],
  ['revoked', 'revoked'],
];

const MARKS: readonly (readonly [Mark['kind'], string])[] = [
  ['refused', 'refused: bounced off the holder'],
  ['rejected', 'write rejected'],
  ['warned', 'write warned'],
  ['note', 'note'],
];

/** What the shapes mean. */
export function Legend() {
  return (
    <ul className="legend" aria-label="Legend">
      {ENDS.map(([end, text]) => (
        <Entry key={end} text={text}>
          <g className={`bar bar-${end}`}>
            <rect className="body" x="1" y="4" width="22" height="12" rx="3" />
            {end === 'expired' && (
              <rect className="hatching" x="1" y="4" width="22" height="12" rx="3" fill="url(#hatch)" />
            )}
            {end === 'live' && <circle className="end" cx="23" cy="10" r="3" />}
            {end === 'released' && <path className="end stop" d="M23 2v16" />}
            {end === 'completed' && <path className="end-mark" d="M9 10l2.5 2.8 4.6 -5.4" />}
            {end === 'revoked' && <path className="end-mark" d="M9 7l6 6m0 -6l-6 6" />}
          </g>
        </Entry>
      ))}
      <Entry text="taken over">
        <g className="bar">
          <path className="begin taken" d="M5 10l7 -7 7 7 -7 7z" />
        </g>
      </Entry>
      <Entry text="renewed">
        <g className="bar bar-live">
          <rect className="body" x="1" y="4" width="22" height="12" rx="3" />
          <path className="renewal" d="M7 11v5M12 11v5M17 11v5" />
        </g>
      </Entry>
      {MARKS.map(([kind, text]) => (
        <Entry key={kind} text={text}>
          <g className={`mark mark-${kind}`}>
            <MarkShape kind={kind} x={12} y={10} />
          </g>
        </Entry>
      ))}
    </ul>
  );
}

function Entry({ text, children }: { text: string; children: ReactNode }) {
  return (
    <li>
      <svg viewBox="0 0 26 20" width="26" height="20" aria-hidden="true">
        {children}
      </svg>
      {text}
    </li>
  );
}
