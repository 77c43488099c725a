import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { printable } from './text.js';

// Somebody the child left behind may hold its streams open for ever.
const STREAMS_END_WITHIN_MS = 1_000;

/** The end of what a child wrote, each of at most the bytes asked for, without colours, in whole lines. */
interface OutputEnd {
  /** Of both streams, as it came. */
  both: string;
  stderr: string;
}

/**
 * Copies a child's piped stdout and stderr to this process's, and gives the end of them as text. Settles when the child
 * and its streams have ended.
 */
export async function copyOutput(child: ChildProcess, limit: number): Promise<OutputEnd> {
  const ends = { both: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const add = (to: keyof typeof ends, chunk: Buffer) => {
    const all = Buffer.concat([ends[to], chunk]);
    ends[to] = Buffer.from(all.subarray(Math.max(0, all.length - limit - 1)));
  };
  const streams = [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const;
  for (const [from, to] of streams) {
    from?.pipe(to, { end: false });
    from?.on('data', (chunk: Buffer) => {
      add('both', chunk);
      if (from === child.stderr) add('stderr', chunk);
    });
  }
  const closed = once(child, 'close').catch(() => {});
  await once(child, 'exit').catch(() => {});
  const timeout = new AbortController();
  await Promise.race([closed, sleep(STREAMS_END_WITHIN_MS, undefined, timeout).catch(() => {})]);
  timeout.abort();
  return { both: tailText(ends.both, limit), stderr: tailText(ends.stderr, limit) };
}

function tailText(bytes: Buffer, limit: number): string {
  const firstWholeLine = bytes.length > limit ? bytes.indexOf('\n') + 1 : 0;
  const text = stripVTControlCharacters(bytes.subarray(firstWholeLine).toString('utf8'));
  const clean = printable(text.replaceAll('\r\n', '\n')).trim();
  // A replaced character may take more bytes than it had.
  return Buffer.from(clean).subarray(-limit).toString('utf8').replace(/^�+/, '');
}
