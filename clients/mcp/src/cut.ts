/** Cuts a text to so many bytes of UTF-8, at a character's end, and marks it as cut. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const mark = '…';
  let kept = '';
  let size = Buffer.byteLength(mark);
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, bytes))) {
    size += Buffer.byteLength(segment);
    if (size > bytes) break;
    kept += segment;
  }
  return kept + mark;
}
