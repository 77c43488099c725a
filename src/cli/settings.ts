import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Reads a setting by its name: the environment's, else that of `.env` in the working directory. */
export type Settings = (name: string) => string | undefined;

/** The settings as of now. An empty value counts as none. Throws when `.env` is there and can't be read. */
export function readSettings(): Settings {
  const file = readDotEnv();
  return (name) => process.env[name] || file[name] || undefined;
}

function readDotEnv(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`.env in this folder can't be read: ${(error as Error).message}`);
  }
}
