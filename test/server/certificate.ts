import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new self-signed certificate for 127.0.0.1, made by the machine's openssl. */
export function makeCertificate(): { cert: Buffer; key: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    execFileSync(
      'openssl',
      [
        ...[
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-days',
          '1',
        ],
        ...[
          '-subj',
          '/CN=holdfast test',
          '-addext',
          'subjectAltName=IP:127.0.0.1',
          '-keyout',
          key,
          '-out',
          cert,
        ],
      ],
      { stdio: 'pipe' },
    );
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } catch (err) {
    throw new Error('the TLS tests need the openssl command: install it', { cause: err });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
