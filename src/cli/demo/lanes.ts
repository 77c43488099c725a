import type { Style } from '../style.js';
import { columns, oneLine } from '../text.js';
import type { Act, Audience, Entry } from './timeline.js';
import { wrap } from './wrap.js';

/** How an act looks in its lane. */
const signs: Record<Act, { glyph: string; colour: 'dim' | 'green' | 'yellow' | 'red' | 'cyan' }> = {
  looks: { glyph: '○', colour: 'dim' },
  reaches: { glyph: '→', colour: 'dim' },
  granted: { glyph: '●', colour: 'green' },
  refused: { glyph: '✗', colour: 'yellow' },
  notes: { glyph: '✎', colour: 'cyan' },
  killed: { glyph: '†', colour: 'red' },
  expired: { glyph: '⧖', colour: 'yellow' },
  'taken over': { glyph: '↻', colour: 'green' },
  returns: { glyph: '↩', colour: 'dim' },
  rejected: { glyph: '⊘', colour: 'red' },
  completed: { glyph: '✓', colour: 'green' },
};

/** How a lane looks between its acts. */
const lines = { idle: '│', holding: '┃', dead: '┊', gone: ' ' } as const;
type LaneState = keyof typeof lines;

/** In what state an act leaves its lane; those that are missing change nothing. */
const next: Partial<Record<Act, LaneState>> = {
  granted: 'holding',
  'taken over': 'holding',
  completed: 'idle',
  killed: 'dead',
  returns: 'idle',
};

/** The colours of the lanes, from the first. */
const laneColours = ['cyan', 'magenta', 'blue'] as const;

const NARROWEST = 64;
const WIDEST = 110;
const LANE = 9;
const INDENT = 2;

/**
 * Draws the timeline as it happens: a row an entry with its time, a lane for each of `names` from top to bottom, and
 * what happened beside it, wrapped at `width` columns.
 */
export function drawLanes(
  names: readonly string[],
  style: Style,
  width: number,
  write: (line: string) => void,
): Audience {
  const states = new Map<string, LaneState>(names.map((name) => [name, 'idle']));
  const margin = 7 + INDENT + LANE * names.length;
  const textWidth = Math.min(Math.max(width, NARROWEST), WIDEST) - margin;

  const lanes = (cell: (name: string) => string) =>
    names.map((name) => cell(name) + ' '.repeat(LANE - 1)).join('');
  const coloured = (name: string, text: string) =>
    style[laneColours[names.indexOf(name) % laneColours.length] ?? 'dim'](text);
  const line = (name: string) => coloured(name, lines[states.get(name) ?? 'gone']);
  const row = (time: string, cell: (name: string) => string, text: string) =>
    write(`${style.dim(time.padStart(7))}${' '.repeat(INDENT)}${lanes(cell)}${text}`.trimEnd());

  return {
    scene(number, title) {
      write('');
      write(style.bold(`${number}  ${title}`));
      const headings = names.map((name) => coloured(name, name) + ' '.repeat(LANE - columns(name)));
      write(`${style.dim('time'.padStart(7))}${' '.repeat(INDENT)}${headings.join('').trimEnd()}`);
    },
    entry({ atMs, who, act, text, holder }: Entry) {
      const state = next[act];
      if (state) states.set(who, state);
      if (act === 'expired' && holder) states.set(holder, 'gone');
      const { glyph, colour } = signs[act];
      const [first = '', ...more] = wrap(oneLine(text).split(' '), textWidth);
      row(seconds(atMs), (name) => (name === who ? style[colour](glyph) : line(name)), first);
      for (const rest of more) row('', line, rest);
    },
  };
}

/** What the glyphs mean, wrapped at `width` columns. */
export function legend(style: Style, width: number): string {
  const words = Object.entries(signs).map(([act, { glyph }]) => `${glyph} ${act}`);
  words.push(`${lines.holding} holds a lease`, `${lines.dead} dead, its lease is not`);
  return style.dim(wrap(words, width, '   ').join('\n'));
}

/** `1.25s` */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)}s`;
}
