import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { defaultDataDir } from './default-data-dir.js';
import { DAY, SECOND } from './domain/instant.js';
import type { Role } from './domain/principal.js';
import type { Settings } from './domain/settings.js';

/** Seconds in a setting, microseconds in the code. */
const seconds = (min: number, max: number) =>
  z.coerce
    .number('must be a number of seconds')
    .min(min, `must be at least ${min} s`)
    .max(max, `must be at most ${max} s`)
    .transform((value) => Math.round(value * SECOND));

/** How many of something; 0 for any number. */
const most = (max: number) =>
  z.coerce
    .number('must be a number')
    .int('must be whole')
    .min(0, 'must not be negative; 0 means any number')
    .max(max, `must be at most ${max}; 0 means any number`);

const DAY_SECONDS = 24 * 3600;

/** Every setting of the server: name, default and meaning. `holdfast serve --help` lists them from here. */
export const SETTINGS = {
  PORT: {
    meaning: 'the port to listen on; 0 for any free one',
    default: '7420',
    type: z.coerce
      .number('must be a port')
      .int('must be a port')
      .min(0, 'must be 0 to 65535')
      .max(65_535, 'must be 0 to 65535'),
  },
  HOST: {
    meaning: 'the address to listen on; by default this machine only, or with TLS every address',
    default: undefined,
    type: z.string().optional(),
  },
  HOLDFAST_ALLOWED_HOSTS: {
    meaning:
      'by which names browsers reach the server, beside localhost and addresses: holdfast.example.com,…',
    default: undefined,
    type: z
      .string()
      .optional()
      .transform((text) =>
        (text ?? '')
          .toLowerCase()
          .split(/[\s,]+/)
          .filter(Boolean),
      )
      .refine(
        (names) => names.every((name) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name)),
        'must be names without scheme and port, such as holdfast.example.com',
      ),
  },
  DATABASE_URL: {
    meaning: 'a Postgres 15 or newer to use instead of the embedded one',
    default: undefined,
    type: z.string().optional(),
  },
  HOLDFAST_DATA: {
    meaning: 'the data folder: embedded Postgres and the owner token',
    default: undefined,
    type: z
      .string()
      .optional()
      .transform((folder) => folder ?? defaultDataDir()),
  },
  LOCK_DEFAULT_TTL_SECONDS: {
    meaning: 'how long a lease lives that asks for nothing else',
    default: '900',
    type: seconds(1, 365 * DAY_SECONDS),
  },
  LOCK_MAX_TTL_SECONDS: {
    meaning: 'how long a lease may live without renewal',
    default: '7200',
    type: seconds(1, 365 * DAY_SECONDS),
  },
  LOCK_MAX_AGE_SECONDS: {
    meaning: 'how long a lease may be renewed after its grant; 0 for ever',
    default: String(DAY_SECONDS),
    type: seconds(0, 3650 * DAY_SECONDS),
  },
  LOCK_ENFORCEMENT: {
    meaning: 'what happens to a write without a valid lease: off, warn or enforce',
    default: 'warn',
    type: z
      .string()
      .toUpperCase()
      .pipe(z.enum(['OFF', 'WARN', 'ENFORCE'], 'must be off, warn or enforce')),
  },
  HISTORY_RETENTION_DAYS: {
    meaning: 'how many days of history are kept; 0 for ever',
    default: '0',
    type: z.coerce
      .number('must be a number of days')
      .min(0, 'must not be negative')
      .max(36_500, 'must be at most 36500; 0 keeps it for ever')
      .transform((days) => Math.round(days * DAY)),
  },
  DATABASE_POOL_SIZE: {
    meaning: 'how many database connections a process uses',
    default: '16',
    type: z.coerce
      .number('must be a number')
      .int('must be whole')
      .min(2, 'must be at least 2')
      .max(200, 'must be at most 200'),
  },
  TOKEN_REQUESTS_PER_SECOND: {
    meaning: 'how many requests a second a token may make of a process, on average of 10 s; 0 for any number',
    default: '0',
    type: most(1_000_000),
  },
  TOKEN_WATCHES: {
    meaning: 'how many streams a token may have open on a process; 0 for any number',
    default: '2000',
    type: most(1_000_000),
  },
  TOKEN_WAITERS: {
    meaning: 'how many calls of a token may wait for a task on a process; 0 for any number',
    default: '2000',
    type: most(1_000_000),
  },
  OIDC_ISSUER: {
    meaning: 'an OpenID Connect provider whose tokens are taken, too, as its tokens name it: https://…',
    default: undefined,
    type: z
      .url({ protocol: /^https?$/, error: 'must be an https URL' })
      .refine(
        (url) => /^https:|^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/i.test(url),
        'must be an https URL, unless it is on this machine',
      )
      .optional(),
  },
  OIDC_AUDIENCE: {
    meaning: 'what those tokens must be for; needed with OIDC_ISSUER',
    default: undefined,
    type: z.string().optional(),
  },
  OIDC_ROLE_CLAIM: {
    meaning: 'the claim that gives the role, or the way to it: realm_access.roles',
    default: 'holdfast_role',
    type: z.string(),
  },
  OIDC_ROLES: {
    meaning: 'which of its values gives which role; the strongest of several holds',
    default: 'admin=admin,member=member,viewer=viewer,agent=agent',
    type: z.string().transform((text, context) => {
      const pairs = text
        .split(',')
        .map((pair) => /^\s*(.+?)\s*=\s*(admin|member|viewer|agent)\s*$/.exec(pair));
      if (pairs.some((pair) => pair === null)) {
        context.addIssue('must be pairs such as team-leads=admin,everybody=viewer');
        return z.NEVER;
      }
      return Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) as Record<string, Role>;
    }),
  },
  OIDC_PRINCIPAL_CLAIM: {
    meaning: 'the claim that names the principal',
    default: 'sub',
    type: z.string(),
  },
  OIDC_PROJECT_CLAIM: {
    meaning: 'the claim that names the project; without it: default',
    default: 'holdfast_project',
    type: z.string(),
  },
  WEBHOOK_ALLOW_PRIVATE: {
    meaning:
      'whether webhooks may post to loopback, private and other addresses that are not public: true or false',
    default: 'false',
    type: z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    meaning: 'where traces are sent by OTLP/HTTP, such as http://localhost:4318; without it, none are made',
    default: undefined,
    type: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    meaning: 'the share of traces that begin here and are sent, 0 to 1',
    default: '1',
    type: z.coerce.number('must be 0 to 1').min(0, 'must be 0 to 1').max(1, 'must be 0 to 1'),
  },
  LOG_LEVEL: {
    meaning: 'what is logged to stderr: debug, info, warn, error or silent',
    default: 'info',
    type: z.enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be a level such as info or warn',
    ),
  },
} as const;

/** Settings of the other subcommands, which may stand in the same environment or .env file. */
const CLIENT_SETTINGS = [
  'HOLDFAST_URL',
  'HOLDFAST_TOKEN',
  'HOLDFAST_PROJECT',
  'HOLDFAST_EXECUTION_ID',
  'HOLDFAST_TASK_ID',
  'HOLDFAST_TASK_TITLE',
  'HOLDFAST_LEASE_ID',
  'HOLDFAST_FENCING_TOKEN',
  'HOLDFAST_ATTEMPT',
  'HOLDFAST_CONTINUATION',
];

type Name = keyof typeof SETTINGS;
export type Config = { readonly [K in Name]: z.output<(typeof SETTINGS)[K]['type']> };

/** A setting is missing or wrong; the message says which and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The environment, with what a `.env` file in the working directory adds to it. */
export function readEnvironment(): NodeJS.Dict<string> {
  let file: NodeJS.Dict<string> = {};
  try {
    file = parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new ConfigError(`.env in this folder cannot be read: ${(error as Error).message}`);
    }
  }
  return { ...file, ...process.env };
}

/**
 * Parses the settings once.
 *
 * @param warn told of names that look like misspelt settings of ours, but may be somebody else's
 * @throws ConfigError
 */
export function parseConfig(environment: NodeJS.Dict<string>, warn: (message: string) => void): Config {
  refuseUnknown(environment, warn);
  const config = Object.fromEntries(
    (Object.keys(SETTINGS) as Name[]).map((name) => {
      const { type, default: fallback } = SETTINGS[name];
      const given = environment[name]?.trim() || fallback;
      const parsed = type.safeParse(given);
      if (!parsed.success) {
        throw new ConfigError(`${name}=${given} ${parsed.error.issues[0]?.message ?? 'is wrong'}`);
      }
      return [name, parsed.data];
    }),
  ) as unknown as Config;
  if (config.LOCK_DEFAULT_TTL_SECONDS > config.LOCK_MAX_TTL_SECONDS) {
    throw new ConfigError('LOCK_DEFAULT_TTL_SECONDS must not be above LOCK_MAX_TTL_SECONDS');
  }
  if ((config.OIDC_ISSUER === undefined) !== (config.OIDC_AUDIENCE === undefined)) {
    throw new ConfigError('OIDC_ISSUER and OIDC_AUDIENCE go together');
  }
  return config;
}

/** Which identity provider is trusted; undefined for none. */
export function oidcOf(config: Config) {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience } = config;
  if (issuer === undefined || audience === undefined) return undefined;
  return {
    issuer,
    audience,
    roles: config.OIDC_ROLES,
    claims: {
      principal: config.OIDC_PRINCIPAL_CLAIM,
      role: config.OIDC_ROLE_CLAIM,
      project: config.OIDC_PROJECT_CLAIM,
    },
  };
}

/** HOLDFAST_ is ours alone: a name we do not know is a mistake. LOCK_ may be another program's. */
function refuseUnknown(environment: NodeJS.Dict<string>, warn: (message: string) => void): void {
  const known = [...Object.keys(SETTINGS), ...CLIENT_SETTINGS];
  for (const name of Object.keys(environment)) {
    if (known.includes(name)) continue;
    const hint = `Did you mean ${nearest(name, known)}?`;
    if (name.startsWith('HOLDFAST_') && !name.startsWith('HOLDFAST_TEST_')) {
      throw new ConfigError(`There is no setting ${name}. ${hint}`);
    }
    if (name.startsWith('LOCK_')) warn(`${name} is no setting of Holdfast and is ignored. ${hint}`);
  }
}

function nearest(name: string, known: readonly string[]): string {
  return known.toSorted((a, b) => distance(a, name) - distance(b, name))[0] ?? '';
}

/** What holds for projects that set nothing else. */
export function defaultSettings(config: Config): Settings {
  return {
    enforcement: config.LOCK_ENFORCEMENT,
    defaultTtl: config.LOCK_DEFAULT_TTL_SECONDS,
    maxTtl: config.LOCK_MAX_TTL_SECONDS,
    maxAge: config.LOCK_MAX_AGE_SECONDS,
    maxExpiries: 5,
  };
}
