import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { PeerCertificate } from '../rpc/peer-certificate.js';
import type { HttpRequest } from './http.js';

const known = new WeakMap<object, PeerCertificate | undefined>();

/** The certificate that a client showed and whose chain was checked; undefined without one. */
export function clientCertificate(req: HttpRequest): PeerCertificate | undefined {
  const socket = ('stream' in req ? req.stream.session?.socket : req.socket) as TLSSocket | undefined;
  if (!socket?.authorized) return undefined;
  // It is of the connection: calls that follow on it need not read it again.
  const connection = 'stream' in req ? (req.stream.session ?? socket) : socket;
  if (!known.has(connection)) known.set(connection, read(socket));
  return known.get(connection);
}

function read(socket: TLSSocket): PeerCertificate | undefined {
  const { fingerprint256, issuer, serialNumber, subject, valid_to } = socket.getPeerCertificate();
  if (!fingerprint256) return undefined;
  return {
    // Not its fingerprint: an ECDSA signature has a second form that is as valid, which whoever has the certificate can
    // write, and be another one.
    id: createHash('sha256')
      .update(JSON.stringify([Object.entries(issuer), serialNumber]))
      .digest('hex'),
    commonName: single(subject.CN),
    organization: single(subject.O),
    unit: single(subject.OU),
    validTo: Date.parse(valid_to),
  };
}

/** Node answers a list when there are several, whatever its types say: which of them is meant nobody knows. */
const single = (value: unknown) => {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : '';
};
