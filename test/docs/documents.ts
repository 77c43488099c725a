import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A document of the repository. */
export interface Document {
  /** From the root: `docs/api.md`. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a document. */
export interface Block {
  /** What follows the fence: `sh`, `json`. */
  readonly language: string;
  readonly text: string;
  /** A comment `<!-- runnable -->` stands before it. */
  readonly runnable: boolean;
  /** Nothing but empty lines is between it and the block before. */
  readonly follows: boolean;
}

/** The documents for users and contributors. */
export function documents(): Document[] {
  const pages = readdirSync(`${ROOT}docs`).map((name) => `docs/${name}`);
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pages]
    .filter((path) => path.endsWith('.md') && existsSync(ROOT + path))
    .map(readDocument);
}

export function readDocument(path: string): Document {
  return { path, text: readFileSync(ROOT + path, 'utf8') };
}

const FENCED = /^```(\w*)\n(.*?)^```$/gms;

/** The fenced blocks of a text, in their order. */
export function blocksOf(text: string): Block[] {
  let end = -1;
  return [...text.matchAll(FENCED)].map(({ 0: whole, 1: language = '', 2: body = '', index }) => {
    const before = text.slice(Math.max(end, 0), index);
    const follows = end >= 0 && before.trim() === '';
    end = index + whole.length;
    return { language, text: body, follows, runnable: before.trimEnd().endsWith('<!-- runnable -->') };
  });
}

/** The text without its fenced blocks. */
export function proseOf(text: string): string {
  return text.replaceAll(FENCED, '');
}

/** The text with the part between two marks replaced: `<!-- settings -->` and `<!-- /settings -->`. */
export function withPart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the marks ${begin.trim()} and ${end} are missing`);
  return text.slice(0, from + begin.length) + part + text.slice(to);
}
