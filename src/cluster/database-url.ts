import { port, socketPath } from './layout.js';

/** The address of a database behind a Unix socket, in the form that psql and all of libpq take. */
export function socketUrl(run: string, database: string): string {
  return `postgres://holdfast@${encodeURIComponent(run)}:${port}/${database}`;
}

/** What to call postgres.js with: `postgres(target.url, { ...target.options, … })`. */
export interface DriverTarget {
  readonly url: string;
  readonly options: { readonly path?: string };
}

/**
 * Translates a database URL for postgres.js, which knows neither of libpq's two ways to name the folder of a Unix
 * socket: `postgres://user@%2Frun%2Fpostgresql/db` and `postgres:///db?host=/run/postgresql`. A URL of a TCP server
 * stays as it is.
 *
 * @throws TypeError when it is no URL.
 */
export function driverTarget(url: string): DriverTarget {
  const parsed = new URL(url);
  const host = parsed.searchParams.get('host') ?? decodeURIComponent(parsed.hostname);
  if (!host.startsWith('/')) return { url, options: {} };
  parsed.searchParams.delete('host');
  return { url: parsed.href, options: { path: socketPath(host, parsed.port || port) } };
}
