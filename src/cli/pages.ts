import type { Session } from './session.js';

/** Which page is wanted. */
interface Page {
  pageSize: number;
  pageToken: string;
}

/** The largest page that the server gives. */
export const LARGEST_PAGE = 1_000;

/**
 * Reads page after page until `limit` rows, and returns the first answer with all the rows. Its
 * `nextPageToken` is set when there are more.
 */
export async function readPages<Answer extends { nextPageToken: string }, Row>(
  limit: number,
  read: (page: Page) => Promise<Answer>,
  rowsOf: (answer: Answer) => Row[],
): Promise<Answer> {
  const first = await read({ pageSize: Math.min(limit, LARGEST_PAGE), pageToken: '' });
  const rows = rowsOf(first);
  while (first.nextPageToken !== '' && rows.length < limit) {
    const pageSize = Math.min(limit - rows.length, LARGEST_PAGE);
    const next = await read({ pageSize, pageToken: first.nextPageToken });
    rows.push(...rowsOf(next));
    first.nextPageToken = next.nextPageToken;
  }
  return first;
}

/** Says that there is more than `limit` let through. */
export function noteMore({ out }: Session, answer: { nextPageToken: string }, limit: number): void {
  if (answer.nextPageToken !== '') out.note(`There are more than ${limit}; see --limit.`);
}
