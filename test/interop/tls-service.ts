import { pino } from 'pino';
import { afterAll } from 'vitest';
import { startService } from '../../src/service.js';
import { makeCertificate } from '../server/certificate.js';
import { DEFAULT_SETTINGS } from '../support/service.js';

/** A replica behind TLS, on a database that another service of the tests has. It ends with the test file. */
export async function startTlsReplica(
  databaseUrl: string,
): Promise<{ url: string; port: number; cert: Buffer }> {
  const { cert, key } = makeCertificate();
  const service = await startService({
    databaseUrl,
    poolSize: 4,
    host: '127.0.0.1',
    port: 0,
    defaults: { ...DEFAULT_SETTINGS, enforcement: 'ENFORCE' },
    webhooks: { allowPrivate: false },
    tls: { cert, key },
    log: pino({ level: 'silent' }),
  });
  afterAll(() => service.stop());
  const { port } = service.address;
  return { url: `https://127.0.0.1:${port}`, port, cert };
}
