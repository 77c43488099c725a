import type { Style } from './style.js';
import { columns, cutTo, oneLine } from './text.js';

/** A column: its heading, and each row's cell. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => string];

/**
 * Lays rows out in columns as wide as their widest cell. The last column is cut at `maxWidth`, if one is
 * given: put the longest text there.
 */
export function table<Row>(
  rows: readonly Row[],
  layout: readonly Column<Row>[],
  style: Style,
  maxWidth?: number,
): string {
  const cells = rows.map((row) => layout.map(([, cell]) => oneLine(cell(row))));
  const widths = layout.map(([heading], at) =>
    cells.reduce((widest, row) => Math.max(widest, columns(row[at] ?? '')), heading.length),
  );
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - columns(cell)));
    const text = padded.join('  ').trimEnd();
    return maxWidth ? cutTo(maxWidth, text) : text;
  };
  return [style.dim(line(layout.map(([heading]) => heading))), ...cells.map(line)].join('\n');
}

/** Lays out names and values, a line each, leaving out what is empty. */
export function details(pairs: readonly (readonly [name: string, value: string])[], style: Style): string {
  const shown = pairs.filter(([, value]) => value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${oneLine(value)}`).join('\n');
}
