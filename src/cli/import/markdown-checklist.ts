import type { LineError } from './task-file.js';

/** A checklist item: `- [ ] title`, and the lines that belong to it. */
export interface ChecklistItem {
  line: number;
  title: string;
  /** The further lines of the item, without their indentation. */
  body: string;
  done: boolean;
  /** The titles of the items that it is nested in, outermost first. */
  within: string[];
}

/** The items that stand directly under one heading. */
interface ChecklistSection {
  /** The heading's line; without one, the first item's. */
  line: number;
  /** The headings that it stands under, outermost first; none at the top of a file. */
  headings: string[];
  items: ChecklistItem[];
}

/** A checklist, or all that is wrong with it. */
export interface Checklist {
  /** The sections that have items, in their order. */
  sections: ChecklistSection[];
  errors: LineError[];
}

interface OpenItem {
  item: ChecklistItem;
  /** The column of its bullet, and the one where its text begins. */
  bulletAt: number;
  textAt: number;
  bodyLines: string[];
}

const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +)\[([ xX])\](?: +(.*))?$/;
const BULLET = /^ *(?:[-*+]|\d{1,9}[.)])(?: |$)/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const UNDERLINE = /^ {0,3}(=+|-{2,}) *$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const FENCE = /^ *(`{3,}|~{3,})/;

/**
 * Reads the task list of a Markdown text: `- [ ]` items (also `*`, `+`, `1.`, `1)`), checked ones with `[x]`.
 * Lines under an item that are indented more than its bullet are its body. What is in code fences, comments and
 * front matter is no item and no heading.
 */
export function parseChecklist(text: string): Checklist {
  return new ChecklistReader().read(text);
}

class ChecklistReader {
  readonly #sections: ChecklistSection[] = [];
  readonly #errors: LineError[] = [];
  #headings: { level: number; text: string; line: number }[] = [];
  #section: ChecklistSection | undefined;
  /** The item that is being read, after those it is nested in. */
  #open: OpenItem[] = [];
  #fence: { mark: string; line: number } | undefined;
  #commentSince = 0;
  /** The line before, when it could be the text of an underlined heading. */
  #paragraph = '';
  #afterBlank = false;

  read(text: string): Checklist {
    const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
    const start = endOfFrontMatter(lines);
    lines.slice(start).forEach((raw, at) => {
      this.#line(withoutTabs(raw), start + at + 1);
    });
    this.#closeItems(0);
    if (this.#fence) this.#fail(this.#fence.line, 'this code fence is never closed');
    if (this.#commentSince > 0) this.#fail(this.#commentSince, 'this comment is never closed');
    return { sections: this.#sections, errors: this.#errors };
  }

  #line(line: string, number: number): void {
    if (this.#skipsComment(line, number)) return;
    if (this.#insideFence(line, number)) {
      this.#addToBody(line);
      return;
    }
    const item = ITEM.exec(line);
    const heading = HEADING.exec(line);
    if (item) this.#beginItem(item, number);
    else if (heading) this.#beginSection(heading[1]?.length ?? 1, headingText(heading[2]), number);
    else if (this.#paragraph !== '' && UNDERLINE.test(line)) {
      this.#beginSection(line.includes('=') ? 1 : 2, this.#paragraph, number - 1);
    } else if (RULE.test(line)) this.#closeItems(0);
    else this.#text(line);
    this.#afterBlank = line.trim() === '';
  }

  #skipsComment(line: string, number: number): boolean {
    if (this.#commentSince === 0 && !this.#fence && /^ *<!--/.test(line)) this.#commentSince = number;
    if (this.#commentSince === 0) return false;
    if (line.includes('-->')) this.#commentSince = 0;
    return true;
  }

  /** Also true for the lines that begin and end a fence. */
  #insideFence(line: string, number: number): boolean {
    const mark = FENCE.exec(line)?.[1];
    if (!this.#fence) {
      if (!mark) return false;
      if (indentOf(line) <= (this.#open.at(-1)?.bulletAt ?? -1)) this.#closeItems(0);
      this.#fence = { mark, line: number };
    } else if (mark?.startsWith(this.#fence.mark) && line.trim() === mark) this.#fence = undefined;
    this.#paragraph = '';
    return true;
  }

  #beginItem([, indent = '', bullet = '', gap = '', mark, title = '']: RegExpExecArray, line: number): void {
    const bulletAt = indent.length;
    // Nested from two columns on: people indent so even under `1. `, whose text begins at the third.
    this.#closeItems(this.#open.findLastIndex((open) => bulletAt >= open.bulletAt + 2) + 1);
    this.#paragraph = '';
    const within = this.#open.map((open) => open.item.title);
    const item: ChecklistItem = { line, title: title.trim(), body: '', done: mark !== ' ', within };
    if (item.title === '') this.#fail(line, 'this item has no text');
    if (!this.#section) {
      const headings = this.#headings.map(({ text }) => text);
      this.#section = { line: this.#headings.at(-1)?.line ?? line, headings, items: [] };
      this.#sections.push(this.#section);
    }
    this.#section.items.push(item);
    this.#open.push({ item, bulletAt, textAt: bulletAt + bullet.length + gap.length, bodyLines: [] });
  }

  #beginSection(level: number, text: string, line: number): void {
    this.#closeItems(0);
    this.#paragraph = '';
    this.#section = undefined;
    this.#headings = this.#headings.filter((heading) => heading.level < level);
    if (text.trim() === '') this.#fail(line, 'this heading has no text');
    this.#headings.push({ level, text: text.trim(), line });
  }

  #text(line: string): void {
    const current = this.#open.at(-1);
    const indent = indentOf(line);
    const blank = line.trim() === '';
    if (!current || blank) {
      this.#paragraph = blank || BULLET.test(line) || indent > 3 ? '' : line.trim();
      if (blank) this.#addToBody('');
      return;
    }
    // A paragraph goes on without indentation, too, but not after an empty line; a list does not.
    const goesOn = indent > current.bulletAt || (!this.#afterBlank && !BULLET.test(line));
    if (!goesOn) this.#closeItems(this.#open.findLastIndex((open) => indent > open.bulletAt) + 1);
    if (this.#open.length > 0) this.#addToBody(line);
    else this.#paragraph = BULLET.test(line) ? '' : line.trim();
  }

  #addToBody(line: string): void {
    const current = this.#open.at(-1);
    current?.bodyLines.push(line.slice(Math.min(indentOf(line), current.textAt)));
  }

  /** Ends the open items from `depth` on. */
  #closeItems(depth: number): void {
    for (const { item, bodyLines } of this.#open.slice(depth)) {
      item.body = bodyLines.join('\n').replace(/^\n+/, '').trimEnd();
    }
    this.#open = this.#open.slice(0, depth);
  }

  #fail(line: number, message: string): void {
    this.#errors.push({ line, message });
  }
}

/** The number of lines that front matter (`---` … `---` at the very top) takes. */
function endOfFrontMatter(lines: string[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0;
  const end = lines.findIndex((line, at) => at > 0 && /^(---|\.\.\.)\s*$/.test(line));
  return end + 1;
}

function withoutTabs(line: string): string {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  let columns = 0;
  for (const char of indent) columns += char === '\t' ? 4 - (columns % 4) : 1;
  // A tab between bullet and box is just a gap.
  return (
    ' '.repeat(columns) +
    line
      .slice(indent.length)
      .replace(/^([-*+]|\d{1,9}[.)])\t+/, '$1 ')
      .replace(/\](\t+)/, '] ')
  );
}

/** A heading's text without the `#`s that may close it. Not by a regex: those take quadratic time here. */
function headingText(text = ''): string {
  const whole = text.trim();
  let end = whole.length;
  while (whole[end - 1] === '#') end--;
  const closed = end === 0 || whole[end - 1] === ' ' || whole[end - 1] === '\t';
  return closed ? whole.slice(0, end).trimEnd() : whole;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
