import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WriteCode } from '@holdfast/proto/guard';
import { RefusalReason } from '@holdfast/proto/lease';
import { describe, expect, test } from 'vitest';
import { NAMES } from '../rpc/methods.js';
import { allCommands, wrongCommandLines } from './commands.js';
import { blocksOf, documents, proseOf, ROOT, readDocument } from './documents.js';

const commands = await allCommands();

describe.each(documents())('$path', ({ path, text }) => {
  test('names only commands and options that exist', () => {
    const shell = blocksOf(text)
      .filter(({ language }) => language === 'sh')
      .map((block) => block.text.replaceAll(/#.*$/gm, '').replaceAll('\\\n', ' '));
    const inline = [...proseOf(text).matchAll(/`(holdfast [^`]+|npx holdfast [^`]+)`/g)].map(
      ([, code]) => code,
    );
    const lines = [...shell, ...inline].join('\n');
    expect(wrongCommandLines(lines, commands)).toEqual([]);
  });

  test('names only RPCs that exist', () => {
    const named = [...text.matchAll(/\b(?:Lease|Task|History|Project)Service\/\w+/g)].map(([name]) => name);
    expect(named.filter((name) => !NAMES.includes(name))).toEqual([]);
  });

  test('links to files and headings that exist', () => {
    const links = [...proseOf(text).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !resolves(path, link))).toEqual([]);
  });
});

function resolves(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : join(dirname(from), file);
  if (!existsSync(ROOT + target)) return false;
  return anchor === undefined || anchorsOf(readDocument(target).text).includes(anchor);
}

/** As GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

describe('docs/api.md', () => {
  const { text } = readDocument('docs/api.md');
  const rows = [...text.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)].map(([, name = '', rest = '']) => ({
    name,
    rest,
  }));
  const methods = NAMES.map((name) => ({ name, method: name.split('/')[1] ?? '' }));

  test('has every RPC in a table', () => {
    expect(methods.filter(({ method }) => !rows.some(({ name }) => name === method))).toEqual([]);
  });

  test.each([
    ['reasons of refusals', RefusalReason],
    ['verdicts of the write guard', WriteCode],
  ])('explains all %s', (_, values) => {
    const names = Object.keys(values).filter((name) => /^[A-Z]/.test(name) && name !== 'UNSPECIFIED');
    expect(names.filter((name) => !rows.some((row) => row.name === name))).toEqual([]);
  });
});

test('the demo shown in the README has the scenes of the demo', () => {
  const shown = [...readDocument('README.md').text.matchAll(/^✓ (.+)$/gm)].map(([, title = '']) => title);
  const folder = `${ROOT}src/cli/demo/`;
  const source = readdirSync(folder).map((name) => readFileSync(folder + name, 'utf8'));
  expect(shown).toHaveLength(3);
  expect(shown.filter((title) => !source.some((text) => text.includes(title)))).toEqual([]);
});
