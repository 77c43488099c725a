import { columns } from '../text.js';

/** Puts words into rows of at most `width` columns; a longer word gets a row of its own. */
export function wrap(words: readonly string[], width: number, gap = ' '): string[] {
  const rows: string[] = [];
  for (const word of words) {
    const longer = `${rows.at(-1)}${gap}${word}`;
    if (rows.length > 0 && columns(longer) <= width) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}
