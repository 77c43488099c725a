import { explain, type WatchConnection } from '@holdfast/client';
import type { ProjectNews } from './watch-projects.js';

/** Where the news goes. */
export interface View {
  news(news: ProjectNews): void;
  connection(connection: WatchConnection): void;
  /** Leaves the terminal as it was. */
  close(): void;
}

/** Tells when the connection is lost and when it is back, and no more. */
export function connectionTeller(tell: (text: string) => void): View['connection'] {
  let lost = false;
  return (connection) => {
    if (connection.state === 'waiting') {
      lost = true;
      const seconds = (connection.inMs / 1_000).toFixed(1);
      tell(`Connection lost: ${reasonOf(connection.error)} Trying again in ${seconds} s.`);
    } else if (connection.state === 'live' && lost) {
      lost = false;
      tell('Connected again; it goes on where it stopped.');
    }
  };
}

export const gapText = (reason: 'COMPACTED' | 'RESET') =>
  reason === 'COMPACTED'
    ? 'Some events were missed: they are no longer kept.'
    : 'Some events may have been missed: the database was restored or is another one.';

/** In one sentence. */
export const reasonOf = (error: unknown) =>
  error === undefined ? 'the stream was cut.' : (explain(error).split('\n')[0] ?? '').replace(/\.?$/, '.');
