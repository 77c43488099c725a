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
  if (!decoded.startsWith(binding) || decoded.length === binding.length) {
    throw invalidArgument('page_token', 'is not the next_page_token of a request with this filter');
  }
  return decoded.slice(binding.length);
}

/** A cursor that is a number, as its maker wrote it. */
export function numberCursor(page: Page): bigint | undefined {
  if (page.after === undefined) return undefined;
  if (!/^\d{1,18}$/.test(page.after)) throw invalidArgument('page_token', 'is damaged');
  return BigInt(page.after);
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
