import { createHash } from 'node:crypto';
import { type Checklist, type ChecklistItem, parseChecklist } from './markdown-checklist.js';
import type { LineError } from './task-file.js';

/** A plan to import. */
interface ImportedPlan {
  line: number;
  externalKey: string;
  title: string;
  steps: ImportedStep[];
}

/** A step to import. */
interface ImportedStep {
  line: number;
  externalKey: string;
  title: string;
  body: string;
  done: boolean;
  /** The key of the item that it is nested in; empty for an outermost one. */
  parent: string;
}

const BETWEEN_TITLES = ' › ';
const LONGEST_TITLE = 500;
const LONGEST_BODY = 64 * 1_024;
const LONGEST_KEY = 256;

/**
 * Turns a Markdown checklist into plans: one for each heading with items directly under it, titled with the headings
 * above it. Nested items are sub-tasks of the one they are in and steps after it, with its title before theirs.
 *
 * A step's `external_key` is made of `fileName`, headings and text, so that it stays the same when items are moved,
 * checked or added, and is another one when its text changes.
 */
export function plansOf(
  text: string,
  fileName: string,
  titleWithoutHeading: string,
): { plans: ImportedPlan[]; errors: LineError[] } {
  const checklist: Checklist = parseChecklist(text);
  const errors = [...checklist.errors];
  const planKey = uniqueKeys();
  const stepKey = uniqueKeys();
  const plans = checklist.sections.map(({ line, headings, items }): ImportedPlan => {
    const externalKey = planKey([fileName, headings.join('/')].filter((part) => part !== '').join('#'));
    /** The keys of the items that the next one may be nested in, outermost first. */
    const outer: string[] = [];
    const steps = items.map((item): ImportedStep => {
      const key = stepKey(`${fileName}#${[...headings, ...item.within, item.title].join('/')}`);
      outer.splice(item.within.length, outer.length, key);
      return {
        line: item.line,
        externalKey: key,
        parent: outer.at(-2) ?? '',
        title: stepTitle(item),
        body: item.body,
        done: item.done,
      };
    });
    return { line, externalKey, title: headings.join(BETWEEN_TITLES) || titleWithoutHeading, steps };
  });
  for (const plan of plans) {
    errors.push(...flawsOf(plan.line, 'the title of this plan (its headings)', plan.title, ''));
    for (const { line, title, body } of plan.steps)
      errors.push(...flawsOf(line, "this item's title", title, body));
  }
  return { plans, errors: errors.sort((a, b) => a.line - b.line) };
}

function stepTitle({ within, title }: ChecklistItem): string {
  const whole = [...within, title].join(BETWEEN_TITLES);
  return lengthOf(whole) <= LONGEST_TITLE ? whole : title;
}

/** Makes each key that it is given different from those before. The same sequence gives the same keys. */
function uniqueKeys(): (key: string) => string {
  const uses = new Map<string, number>();
  return (wanted) => {
    const key = fitting(wanted);
    const use = (uses.get(key) ?? 0) + 1;
    uses.set(key, use);
    return use === 1 ? key : `${key}~${use}`;
  };
}

/** A key of a bounded length; its end is a hash when it had to be cut. Leaves room for `~` and a number. */
function fitting(key: string): string {
  const printable = key.replace(/\s+/g, ' ');
  if (lengthOf(printable) <= LONGEST_KEY - 8) return printable;
  const hash = createHash('sha256').update(printable).digest('hex').slice(0, 16);
  return `${[...printable].slice(0, LONGEST_KEY - 32).join('')}…${hash}`;
}

function flawsOf(line: number, what: string, title: string, body: string): LineError[] {
  const flaws: LineError[] = [];
  const length = lengthOf(title);
  if (length > LONGEST_TITLE)
    flaws.push({ line, message: `${what} has ${length} characters; at most ${LONGEST_TITLE}` });
  const bytes = Buffer.byteLength(body);
  if (bytes > LONGEST_BODY)
    flaws.push({ line, message: `the text under this item has ${bytes} bytes; at most ${LONGEST_BODY}` });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(title + body))
    flaws.push({ line, message: 'there is a control character in this item' });
  return flaws;
}

function lengthOf(text: string): number {
  return [...text].length;
}
