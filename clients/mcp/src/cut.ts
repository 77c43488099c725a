/** Cuts a text to so many bytes, as JSON has it, at a character's end, and marks it as cut. */
export function cut(text: string, bytes: number): string {
  if (sizeOf(text) <= bytes) return text;
  const mark = '…';
  let kept = '';
  let size = sizeOf(mark);
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, bytes))) {
    size += sizeOf(segment);
    if (size > bytes) break;
    kept += segment;
  }
  return kept + mark;
}

const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;
