import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RealServer, startRealServer } from '../cli/real-server.js';
import { type Block, blocksOf, documents, ROOT } from './documents.js';
import { misfits, plain } from './outputs.js';

const MARK = '@@ block ';

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer();
});
afterAll(() => server.stop());

/** A runnable block, and what it prints according to the document. */
interface Example {
  readonly shell: string;
  readonly shown: Block | undefined;
}

function examplesOf(text: string): Example[] {
  const blocks = blocksOf(text);
  return blocks.flatMap((block, at) => {
    if (!block.runnable) return [];
    const next = blocks[at + 1];
    return [{ shell: block.text, shown: next?.follows && next.language !== 'sh' ? next : undefined }];
  });
}

const runnable = documents()
  .map(({ path, text }) => ({ path, examples: examplesOf(text) }))
  .filter(({ examples }) => examples.length > 0);

// The examples of one document go on from each other, as its reader does.
describe.each(runnable)('$path', ({ examples }) => {
  let outputs: string[];
  // Each command is a process of its own: on a busy machine they take their time.
  beforeAll(async () => {
    outputs = await run(examples.map(({ shell }) => shell));
  }, 240_000);

  test.each(examples.map((example, at) => ({ ...example, at })))('example $at', ({ at, shown, shell }) => {
    const output = outputs[at] ?? '';
    const context = `${shell}\nprinted:\n${output}`;
    if (shown?.language === 'json') expect(misfits(shown.text, output), context).toEqual([]);
    else if (shown) expect(plain(output), context).toBe(plain(shown.text));
  });
});

/** Runs them in one shell, in an empty folder, and answers what each printed. */
async function run(shells: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'));
  try {
    writeFileSync(join(folder, 'admin-token'), server.ownerToken);
    const script = [
      'set -euo pipefail',
      'exec 2>&1',
      `npx() { shift; "${process.execPath}" "${ROOT}bin/holdfast.js" "$@"; }`,
      ...shells.map((shell, at) => `printf '\\n${MARK}${at}\\n'\n${shell}`),
    ].join('\n');
    const child = spawn('bash', ['-c', script.replaceAll('localhost:7420', new URL(server.url).host)], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOLDFAST_URL: server.url, HOLDFAST_DATA: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const printed = await textOf(child.stdout);
    expect(await ended, printed).toBe(0);
    return printed
      .split(new RegExp(`^${MARK}\\d+\\n`, 'm'))
      .slice(1)
      .map((part) => part.trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
