import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDir } from '../default-data-dir.js';
import { UsageError } from './exit.js';
import type { Settings } from './settings.js';

/** Where `holdfast serve` listens unless told otherwise. */
export const DEFAULT_URL = 'http://localhost:7420';

/** Where the server is, and the caller's token. */
export interface Connection {
  url: string;
  token: string;
}

/** Finds server and token: the options, else the settings, else the server on this machine. */
export function resolveConnection(options: { url?: string; token?: string }, settings: Settings): Connection {
  const url = options.url ?? settings('HOLDFAST_URL') ?? DEFAULT_URL;
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new UsageError(`"${url}" is not a server's address; it looks like ${DEFAULT_URL}`);
  }
  const token = options.token ?? settings('HOLDFAST_TOKEN') ?? localToken(url, settings);
  // A header can't carry anything else, and an error that quotes the header would tell the token.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError('the token has characters that no token has; it looks like hf_… in one line');
  }
  return { url, token };
}

// The owner's token never leaves this machine: it is only for a server that listens here.
function localToken(url: string, settings: Settings): string {
  const howToGetOne =
    'Set HOLDFAST_TOKEN or give --token. An admin makes one with `holdfast token create NAME`.';
  if (!isLoopback(new URL(url).hostname)) throw new UsageError(`No token for ${url}. ${howToGetOne}`);
  const file = join(settings('HOLDFAST_DATA') ?? defaultDataDir(), 'admin-token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : (error as Error).message;
    throw new UsageError(
      `No token: the local server's ${file} ${why}.\n${howToGetOne} If the server keeps its data elsewhere, set HOLDFAST_DATA.`,
    );
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
