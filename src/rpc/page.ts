import { createHash } from 'node:crypto';
import type { Message } from '@bufbuild/protobuf';
import { invalidArgument } from './problems.js';

const DEFAULT_SIZE = 100;

type PagedRequest = Message & { pageSize: number; pageToken: string };

/** One page that is asked for. */
export interface Page {
  readonly size: number;
  /** Where the previous page ended; undefined for the first. */
  readonly after: string | undefined;
  /** The token for the page after one that ended at `cursor`. */
  tokenAfter(cursor: string): string;
}

/**
 * Reads page size and token. A token is bound to the filter that it was made under: with another filter
 * it would silently skip rows.
 *
 * @throws INVALID_ARGUMENT page_token
 */
export function pageOf(request: PagedRequest, project: string, defaultSize = DEFAULT_SIZE): Page {
  const { pageSize, pageToken, ...filter } = request;
  const binding = createHash('sha256')
    .update(
      JSON.stringify([project, filter], (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    )
    .digest('base64url')
    .slice(0, 12);
  return {
    size: pageSize || defaultSize,
    after: pageToken === '' ? undefined : cursorIn(pageToken, binding),
    tokenAfter: (cursor) => Buffer.from(`${binding}${cursor}`).toString('base64url'),
  };
}

function cursorIn(token: string, binding: string): string {
  const decoded = Buffer.from(token, 'base64url').toString();
  // A cursor is text for the database, which takes no NUL.
  if (!decoded.startsWith(binding) || decoded.length === binding.length || decoded.includes('\0')) {
    throw invalidArgument('page_token', 'is not the next_page_token of a request with this filter');
  }
  return decoded.slice(binding.length);
}

/** The largest value of Postgres's `integer`. */
export const LAST_INTEGER = 2n ** 31n - 1n;

/** A cursor that is a number, as its maker wrote it: no larger than its column can hold. */
export function numberCursor(page: Page, last: bigint = BigInt(Number.MAX_SAFE_INTEGER)): bigint | undefined {
  if (page.after === undefined) return undefined;
  const number = /^\d{1,19}$/.test(page.after) ? BigInt(page.after) : undefined;
  if (number === undefined || number > last) throw invalidArgument('page_token', 'is damaged');
  return number;
}

/** The rows of one page and the token for the next: ask the database for one row more than the page has. */
export function cut<T>(page: Page, rows: readonly T[], cursorOf: (row: T) => string) {
  const shown = rows.slice(0, page.size);
  const last = shown.at(-1);
  return {
    rows: shown,
    nextPageToken: rows.length > page.size && last !== undefined ? page.tokenAfter(cursorOf(last)) : '',
  };
}
