import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  ConfigError,
  defaultSettings,
  oidcOf,
  parseConfig,
  readEnvironment,
  type SETTINGS,
} from '../../src/config.js';
import { defaultDataDir } from '../../src/default-data-dir.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/instant.js';

const parse = (environment: NodeJS.Dict<string>) => {
  const warnings: string[] = [];
  const config = parseConfig(environment, (message) => warnings.push(message));
  return { config, warnings };
};

test('without any setting, the defaults hold', () => {
  const { config, warnings } = parse({});
  expect(config).toEqual({
    PORT: 7420,
    HOST: undefined,
    HOLDFAST_ALLOWED_HOSTS: [],
    DATABASE_URL: undefined,
    HOLDFAST_DATA: defaultDataDir(),
    LOCK_DEFAULT_TTL_SECONDS: 15 * MINUTE,
    LOCK_MAX_TTL_SECONDS: 2 * HOUR,
    LOCK_MAX_AGE_SECONDS: DAY,
    LOCK_ENFORCEMENT: 'WARN',
    HISTORY_RETENTION_DAYS: 0,
    DATABASE_POOL_SIZE: 16,
    OIDC_ISSUER: undefined,
    OIDC_AUDIENCE: undefined,
    OIDC_ROLE_CLAIM: 'holdfast_role',
    OIDC_ROLES: { admin: 'admin', member: 'member', viewer: 'viewer', agent: 'agent' },
    OIDC_PRINCIPAL_CLAIM: 'sub',
    OIDC_PROJECT_CLAIM: 'holdfast_project',
    TOKEN_REQUESTS_PER_SECOND: 0,
    TOKEN_WATCHES: 2000,
    TOKEN_WAITERS: 2000,
    WEBHOOK_ALLOW_PRIVATE: false,
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_TRACES_SAMPLER_ARG: 1,
    LOG_LEVEL: 'info',
  });
  expect(warnings).toEqual([]);
  expect(defaultSettings(config)).toEqual({
    enforcement: 'WARN',
    defaultTtl: 15 * MINUTE,
    maxTtl: 2 * HOUR,
    maxAge: DAY,
    maxExpiries: 5,
  });
});

test('every setting has a value that is taken', () => {
  const values: Record<keyof typeof SETTINGS, [string, unknown]> = {
    PORT: ['0', 0],
    HOST: ['::1', '::1'],
    HOLDFAST_ALLOWED_HOSTS: ['A.example, b.lan', ['a.example', 'b.lan']],
    DATABASE_URL: ['postgres://h/d', 'postgres://h/d'],
    HOLDFAST_DATA: ['/data', '/data'],
    LOCK_DEFAULT_TTL_SECONDS: ['1.5', 1.5 * SECOND],
    LOCK_MAX_TTL_SECONDS: ['3600', HOUR],
    LOCK_MAX_AGE_SECONDS: ['0', 0],
    LOCK_ENFORCEMENT: ['Enforce', 'ENFORCE'],
    HISTORY_RETENTION_DAYS: ['30', 30 * DAY],
    DATABASE_POOL_SIZE: [' 4 ', 4],
    OIDC_ISSUER: ['https://id.example', 'https://id.example'],
    OIDC_AUDIENCE: ['holdfast', 'holdfast'],
    OIDC_ROLE_CLAIM: ['groups', 'groups'],
    OIDC_ROLES: [' leads = admin,the team=member', { leads: 'admin', 'the team': 'member' }],
    OIDC_PRINCIPAL_CLAIM: ['email', 'email'],
    OIDC_PROJECT_CLAIM: ['board', 'board'],
    TOKEN_REQUESTS_PER_SECOND: ['50', 50],
    TOKEN_WATCHES: ['0', 0],
    TOKEN_WAITERS: ['7', 7],
    WEBHOOK_ALLOW_PRIVATE: ['True', true],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['http://localhost:4318', 'http://localhost:4318'],
    OTEL_TRACES_SAMPLER_ARG: ['0.1', 0.1],
    LOG_LEVEL: ['silent', 'silent'],
  };
  const given = Object.fromEntries(Object.entries(values).map(([name, [text]]) => [name, text]));
  const wanted = Object.fromEntries(Object.entries(values).map(([name, [, value]]) => [name, value]));
  expect(parse(given).config).toEqual(wanted);
});

test('an empty setting is none', () => {
  expect(parse({ PORT: '', HOST: ' ', LOCK_ENFORCEMENT: '\t' }).config).toEqual(parse({}).config);
});

test.each([
  ['PORT', 'http', 'must be a port'],
  ['PORT', '1.5', 'must be a port'],
  ['PORT', '-1', 'must be 0 to 65535'],
  ['PORT', '65536', 'must be 0 to 65535'],
  ['PORT', 'NaN', 'must be a port'],
  [
    'HOLDFAST_ALLOWED_HOSTS',
    'https://a.example',
    'must be names without scheme and port, such as holdfast.example.com',
  ],
  [
    'HOLDFAST_ALLOWED_HOSTS',
    'a.example:443',
    'must be names without scheme and port, such as holdfast.example.com',
  ],
  ['HOLDFAST_ALLOWED_HOSTS', '*', 'must be names without scheme and port, such as holdfast.example.com'],
  ['LOCK_DEFAULT_TTL_SECONDS', '15m', 'must be a number of seconds'],
  ['LOCK_DEFAULT_TTL_SECONDS', '0', 'must be at least 1 s'],
  ['LOCK_DEFAULT_TTL_SECONDS', '0.001', 'must be at least 1 s'],
  ['LOCK_DEFAULT_TTL_SECONDS', 'Infinity', 'must be a number of seconds'],
  ['LOCK_MAX_TTL_SECONDS', '-7200', 'must be at least 1 s'],
  ['LOCK_MAX_TTL_SECONDS', '1e12', 'must be at most 31536000 s'],
  ['LOCK_MAX_AGE_SECONDS', '-1', 'must be at least 0 s'],
  ['LOCK_MAX_AGE_SECONDS', '1d', 'must be a number of seconds'],
  ['LOCK_ENFORCEMENT', 'strict', 'must be off, warn or enforce'],
  ['HISTORY_RETENTION_DAYS', '-1', 'must not be negative'],
  ['HISTORY_RETENTION_DAYS', 'ever', 'must be a number of days'],
  ['HISTORY_RETENTION_DAYS', '1e9', 'must be at most 36500; 0 keeps it for ever'],
  ['DATABASE_POOL_SIZE', '1', 'must be at least 2'],
  ['DATABASE_POOL_SIZE', '1000', 'must be at most 200'],
  ['DATABASE_POOL_SIZE', '2.5', 'must be whole'],
  ['WEBHOOK_ALLOW_PRIVATE', 'yes', 'must be true or false'],
  ['OIDC_ISSUER', 'id.example', 'must be an https URL'],
  ['OIDC_ISSUER', 'http://id.example', 'must be an https URL, unless it is on this machine'],
  ['OIDC_ISSUER', 'http://localhost.example', 'must be an https URL, unless it is on this machine'],
  ['OIDC_ROLES', 'leads=root', 'must be pairs such as team-leads=admin,everybody=viewer'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost', 'must be an http(s) URL'],
  ['OTEL_TRACES_SAMPLER_ARG', '2', 'must be 0 to 1'],
  ['LOG_LEVEL', 'loud', 'must be a level such as info or warn'],
])('%s=%s is refused: %s', (name, value, message) => {
  expect(() => parse({ [name]: value })).toThrow(new ConfigError(`${name}=${value} ${message}`));
});

test('a default TTL above the maximum is refused', () => {
  const environment = { LOCK_DEFAULT_TTL_SECONDS: '7201' };
  expect(() => parse(environment)).toThrow(
    new ConfigError('LOCK_DEFAULT_TTL_SECONDS must not be above LOCK_MAX_TTL_SECONDS'),
  );
});

test('an issuer and its audience go together', () => {
  for (const environment of [{ OIDC_ISSUER: 'https://id.example' }, { OIDC_AUDIENCE: 'holdfast' }]) {
    expect(() => parse(environment)).toThrow(new ConfigError('OIDC_ISSUER and OIDC_AUDIENCE go together'));
  }
  expect(oidcOf(parse({}).config)).toBeUndefined();
});

describe('a name that is not known', () => {
  it.each([
    ['HOLDFAST_DATE', 'HOLDFAST_DATA'],
    ['HOLDFAST_TOKENS', 'HOLDFAST_TOKEN'],
    ['HOLDFAST_EXECUTION', 'HOLDFAST_EXECUTION_ID'],
    ['HOLDFAST_', 'HOLDFAST_URL'],
  ])('%s is refused, with the nearest that is', (name, nearest) => {
    expect(() => parse({ [name]: 'x' })).toThrow(ConfigError);
    expect(() => parse({ [name]: 'x' })).toThrow(`There is no setting ${name}. Did you mean ${nearest}`);
  });

  it.each([
    ['LOCK_TTL_SECONDS', 'LOCK_MAX_TTL_SECONDS'],
    ['LOCK_DEFAULT_TTL_SECOND', 'LOCK_DEFAULT_TTL_SECONDS'],
    ['LOCK_ENFORCMENT', 'LOCK_ENFORCEMENT'],
  ])('%s may be another program’s: a warning, with the nearest that is', (name, nearest) => {
    const { config, warnings } = parse({ [name]: '60' });
    expect(config).toEqual(parse({}).config);
    expect(warnings).toEqual([`${name} is no setting of Holdfast and is ignored. Did you mean ${nearest}?`]);
  });

  it('is nobody’s business without our prefixes', () => {
    expect(parse({ PATH: '/bin', PORTS: '1', LOCKED: 'x', MY_HOLDFAST_X: 'y' }).warnings).toEqual([]);
  });

  it('is not one of the client’s', () => {
    const client = {
      HOLDFAST_URL: 'x',
      HOLDFAST_TOKEN: 'x',
      HOLDFAST_EXECUTION_ID: 'x',
      HOLDFAST_PROJECT: 'x',
    };
    expect(parse(client).warnings).toEqual([]);
  });
});

test('the environment wins over a .env file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-env-'));
  const before = process.cwd();
  try {
    process.chdir(folder);
    writeFileSync('.env', 'HOLDFAST_TEST_A=file\nPATH=/nowhere\n# no\nHOLDFAST_TEST_B="b # c"\n');
    expect(readEnvironment()).toMatchObject({
      HOLDFAST_TEST_A: 'file',
      HOLDFAST_TEST_B: 'b # c',
      PATH: process.env.PATH,
    });
    rmSync('.env');
    expect(readEnvironment().HOLDFAST_TEST_A).toBeUndefined();
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
});
