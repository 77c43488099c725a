import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A certificate and its key, in PEM. */
export interface KeyPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A certificate authority, of the machine's openssl. Its files go with the test file. */
export interface ClientCa {
  readonly cert: Buffer;
  /** Signs a certificate for a subject such as `/CN=ada/OU=agent`. */
  sign(subject: string): KeyPair;
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function makeClientCa(): ClientCa {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ca-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  openssl(
    'req',
    '-x509',
    ...EC,
    '-days',
    '1',
    '-subj',
    '/CN=test ca',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  let signed = 0;
  return {
    cert: readFileSync(at('ca.pem')),
    sign(subject) {
      const name = `client-${++signed}`;
      openssl('req', ...EC, '-subj', subject, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`));
      openssl(
        ...['x509', '-req', '-days', '1', '-in', at(`${name}.csr`), '-out', at(`${name}.pem`)],
        ...['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
      );
      return { cert: readFileSync(at(`${name}.pem`)), key: readFileSync(at(`${name}.key`)) };
    },
  };
}
