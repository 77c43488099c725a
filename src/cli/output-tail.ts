import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { printable } from './text.js';

// Somebody the child left behind may hold its streams open for ever.
const STREAMS_END_WITHIN_MS = 1_000;

/**
 * Copies a child's piped stdout and stderr to this process's, and gives the end of both as text: at most `limit`
 * bytes, without colours, in whole lines. Settles when the child and its streams have ended.
 */
export async function copyOutput(child: ChildProcess, limit: number): Promise<string> {
  let end = Buffer.alloc(0);
  const streams = [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const;
  for (const [from, to] of streams) {
    from?.pipe(to, { end: false });
    from?.on('data', (chunk: Buffer) => {
      const all = Buffer.concat([end, chunk]);
      end = Buffer.from(all.subarray(Math.max(0, all.length - limit - 1)));
    });
  }
  const closed = once(child, 'close').catch(() => {});
  await once(child, 'exit').catch(() => {});
  const timeout = new AbortController();
  await Promise.race([closed, sleep(STREAMS_END_WITHIN_MS, undefined, timeout).catch(() => {})]);
  timeout.abort();
  return tailText(end, limit);
}

function tailText(bytes: Buffer, limit: number): string {
  const firstWholeLine = bytes.length > limit ? bytes.indexOf('\n') + 1 : 0;
  const text = stripVTControlCharacters(bytes.subarray(firstWholeLine).toString('utf8'));
  const clean = printable(text.replaceAll('\r\n', '\n')).trim();
  // A replaced character may take more bytes than it had.
  return Buffer.from(clean).subarray(-limit).toString('utf8').replace(/^�+/, '');
}
