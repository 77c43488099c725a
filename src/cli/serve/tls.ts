import { readFileSync } from 'node:fs';
import { ConfigError } from '../../config.js';

/** The flags that are about TLS: files in PEM. */
export interface TlsFlags {
  tlsCert?: string;
  tlsKey?: string;
  tlsClientCa?: string;
}

/**
 * Reads what TLS needs; undefined without any of it.
 *
 * @throws ConfigError when a part is missing or cannot be read
 */
export function readTls({ tlsCert, tlsKey, tlsClientCa }: TlsFlags) {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ConfigError(
      tlsClientCa === undefined
        ? '--tls-cert and --tls-key go together'
        : '--tls-client-ca needs --tls-cert and --tls-key',
    );
  }
  return {
    cert: read(tlsCert),
    key: read(tlsKey),
    ...(tlsClientCa !== undefined && { clientCa: read(tlsClientCa) }),
  };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`The TLS file ${file} cannot be read: ${(error as Error).message}`);
  }
}
