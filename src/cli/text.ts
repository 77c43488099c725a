/** Makes a stranger's text safe for a terminal: control characters, and so escape sequences, become `�`. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '�');
}

/** {@link printable}, in one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** Puts each line of `text` two columns to the right. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** `1 task`, `2 tasks`. */
export function counted(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

/** How many columns `text` takes on a terminal. */
export function columns(text: string): number {
  let width = 0;
  for (const segment of graphemes(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts `text` to `width` columns, with `…` for what is cut. */
export function cutTo(width: number, text: string): string {
  if (columns(text) <= width) return text;
  let kept = '';
  for (const segment of graphemes(text)) {
    if (columns(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** What a reader takes for one character each. Plain ASCII is not worth a segmenter, which takes long to make. */
function graphemes(text: string): Iterable<string> {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

let segmenter: Intl.Segmenter | undefined;
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
