import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import type { ClientConfig } from './client-configs.js';

/**
 * Adds our entry to the text of a client's configuration, or changes it there; all else stays.
 *
 * @returns the new text, or undefined when the entry is there already
 * @throws Error when the text cannot be read, or a TOML file has another entry of our name
 */
export function mergeConfig(
  client: ClientConfig,
  text: string,
  entry: Record<string, unknown>,
): string | undefined {
  const there = readConfig(client, text);
  const servers = (there[client.table] ?? {}) as Record<string, unknown>;
  if (isDeepStrictEqual(plain(servers.holdfast), entry)) return undefined;
  if (client.format === 'json') {
    const merged = { ...there, [client.table]: { ...servers, holdfast: entry } };
    return `${JSON.stringify(merged, null, 2)}\n`;
  }
  if (servers.holdfast !== undefined) {
    throw new Error('it has another [mcp_servers.holdfast]. Remove that table, then run this again');
  }
  // Written anew, the file would lose its comments.
  const added = stringify({ [client.table]: { holdfast: entry } });
  return text.trim() === '' ? `${added}\n` : `${text.trimEnd()}\n\n${added}\n`;
}

function readConfig(client: ClientConfig, text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const read: unknown = client.format === 'json' ? JSON.parse(text) : parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read))
      return read as Record<string, unknown>;
  } catch (error) {
    throw new Error(`it is no valid ${client.format.toUpperCase()}: ${(error as Error).message}`);
  }
  throw new Error('it holds no settings');
}

/** Tables of a TOML document have no prototype. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
