import { describe, expect, it } from 'vitest';
import { type Checklist, parseChecklist } from '../../src/cli/import/markdown-checklist.js';

/** Sections as `Heading/Sub: [x] title (within) | body`, for tables. */
function outline({ sections }: Checklist): string[] {
  return sections.flatMap(({ headings, items }) =>
    items.map(({ title, done, within, body }) => {
      const place = headings.length > 0 ? `${headings.join('/')}: ` : '';
      const nesting = within.length > 0 ? ` (in ${within.join('/')})` : '';
      return `${place}${done ? '[x]' : '[ ]'} ${title}${nesting}${body === '' ? '' : ` | ${body}`}`;
    }),
  );
}

const cases: { name: string; text: string; items: string[] }[] = [
  { name: 'an empty text', text: '', items: [] },
  { name: 'plain lists, which are no items', text: '- a\n* b\n1. c\n- [link](x)\n- []\n- [y] d', items: [] },
  {
    name: 'every kind of bullet',
    text: '- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n2) [ ] e',
    items: ['[ ] a', '[ ] b', '[ ] c', '[ ] d', '[ ] e'],
  },
  { name: 'checked items', text: '- [x] a\n- [X] b\n- [ ] c', items: ['[x] a', '[x] b', '[ ] c'] },
  {
    name: 'CRLF and a byte order mark',
    text: '\ufeff# Plan\r\n\r\n- [ ] a\r\n- [x] b\r\n',
    items: ['Plan: [ ] a', 'Plan: [x] b'],
  },
  { name: 'old Mac line ends', text: '# P\r- [ ] a\r- [ ] b', items: ['P: [ ] a', 'P: [ ] b'] },
  {
    name: 'nested headings',
    text: '# A\n- [ ] 1\n## B\n- [ ] 2\n### C\n- [ ] 3\n## D\n- [ ] 4\n# E\n- [ ] 5',
    items: ['A: [ ] 1', 'A/B: [ ] 2', 'A/B/C: [ ] 3', 'A/D: [ ] 4', 'E: [ ] 5'],
  },
  {
    name: 'closed and underlined headings',
    text: '# A #\n\nTop\n===\nSub\n---\n- [ ] x',
    items: ['Top/Sub: [ ] x'],
  },
  {
    name: 'a heading with a sharp in it',
    text: '# C#\n- [ ] x\n## F# #\n- [ ] y',
    items: ['C#: [ ] x', 'C#/F#: [ ] y'],
  },
  { name: 'what only looks like a heading', text: '#hash\n- [ ] x', items: ['[ ] x'] },
  {
    name: 'nested items',
    text: '- [ ] a\n  - [x] b\n    - [ ] c\n  - [ ] d\n- [ ] e',
    items: ['[ ] a', '[x] b (in a)', '[ ] c (in a/b)', '[ ] d (in a)', '[ ] e'],
  },
  {
    name: 'items nested with tabs',
    text: '- [ ] a\n\t- [ ] b\n\t\t- [ ] c',
    items: ['[ ] a', '[ ] b (in a)', '[ ] c (in a/b)'],
  },
  { name: 'tabs after the bullet and the box', text: '-\t[ ]\ta', items: ['[ ] a'] },
  {
    name: 'items nested two columns under a numbered one',
    text: '1. [ ] a\n  - [ ] b',
    items: ['[ ] a', '[ ] b (in a)'],
  },
  { name: 'one column more, which is no nesting', text: '- [ ] a\n - [ ] b', items: ['[ ] a', '[ ] b'] },
  { name: 'items under a plain one', text: '- group\n  - [ ] a\n  - [ ] b', items: ['[ ] a', '[ ] b'] },
  {
    name: 'further lines',
    text: '- [ ] a\n  first\n\n  second\n    deeper\n- [ ] b',
    items: ['[ ] a | first\n\nsecond\n  deeper', '[ ] b'],
  },
  {
    name: 'a line that goes on without indentation',
    text: '- [ ] a\nmore\n\nother',
    items: ['[ ] a | more'],
  },
  { name: 'plain bullets under an item', text: '- [ ] a\n  - x\n  - y\n- z', items: ['[ ] a | - x\n- y'] },
  {
    name: 'text for the outer item after a nested one',
    text: '- [ ] a\n  - [ ] b\n\n  more of a',
    items: ['[ ] a | more of a', '[ ] b (in a)'],
  },
  { name: 'a rule after an item', text: '- [ ] a\n---\n- [ ] b', items: ['[ ] a', '[ ] b'] },
  { name: 'a code fence', text: '```md\n# No\n- [ ] no\n```\n- [ ] yes', items: ['[ ] yes'] },
  {
    name: 'a code fence under an item',
    text: '- [ ] a\n  ```sh\n  # no\n  - [ ] no\n  ```\n- [ ] b',
    items: ['[ ] a | ```sh\n# no\n- [ ] no\n```', '[ ] b'],
  },
  {
    name: 'a longer fence around a shorter one',
    text: '````\n```\n- [ ] no\n````\n- [ ] yes',
    items: ['[ ] yes'],
  },
  {
    name: 'a tilde fence with backticks in it',
    text: '~~~\n```\n- [ ] no\n~~~\n- [ ] yes',
    items: ['[ ] yes'],
  },
  { name: 'comments', text: '<!-- - [ ] no -->\n<!--\n- [ ] no\n-->\n- [ ] yes', items: ['[ ] yes'] },
  { name: 'front matter', text: '---\ntitle: x\n# no\n---\n# Yes\n- [ ] a', items: ['Yes: [ ] a'] },
  { name: 'any script', text: '# Größe\n- [ ] 日本語 🚀 e\u0301', items: ['Größe: [ ] 日本語 🚀 e\u0301'] },
  {
    name: 'markup in a title',
    text: '- [ ] **bold** `code` [link](x)',
    items: ['[ ] **bold** `code` [link](x)'],
  },
];

describe('parseChecklist', () => {
  it.each(cases)('reads $name', ({ text, items }) => {
    const checklist = parseChecklist(text);
    expect(checklist.errors).toEqual([]);
    expect(outline(checklist)).toEqual(items);
  });

  it.each([
    {
      name: 'an item without text',
      text: '# A\n\n- [ ] a\n- [x]\n',
      errors: [{ line: 4, message: 'this item has no text' }],
    },
    {
      name: 'a heading without text',
      text: '- [ ] a\n##\n',
      errors: [{ line: 2, message: 'this heading has no text' }],
    },
    {
      name: 'an open fence',
      text: 'x\n```\n- [ ] a',
      errors: [{ line: 2, message: 'this code fence is never closed' }],
    },
    {
      name: 'an open comment',
      text: '<!--\n- [ ] a',
      errors: [{ line: 1, message: 'this comment is never closed' }],
    },
  ])('tells the line of $name', ({ text, errors }) => {
    expect(parseChecklist(text).errors).toEqual(errors);
  });

  it('knows the line of each item, whatever the line ends', () => {
    const lines = parseChecklist('---\na: b\n---\r\n# A\r\n\r\n- [ ] a\n\n- [ ] b').sections[0]?.items.map(
      ({ line }) => line,
    );
    expect(lines).toEqual([6, 8]);
  });

  it('reads a hundred thousand items in a moment', () => {
    const text = Array.from({ length: 100_000 }, (_, at) => `- [ ] item ${at}\n  its body`).join('\n');
    const began = performance.now();
    expect(parseChecklist(text).sections[0]?.items).toHaveLength(100_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it.each([
    { name: 'sharps', line: `# ${'# '.repeat(50_000)}x` },
    { name: 'closing sharps', line: `# ${'#'.repeat(100_000)}x` },
    { name: 'spaces', line: `# a${' '.repeat(100_000)}b` },
    { name: 'dashes', line: `${'- '.repeat(50_000)}x` },
    { name: 'backticks', line: `- [ ] ${'`'.repeat(100_000)}` },
  ])('is not slowed down by a long line of $name', ({ line }) => {
    const began = performance.now();
    parseChecklist(line);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
