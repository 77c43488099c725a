import { createContextKey } from '@connectrpc/connect';

/** What a client's certificate says, once its chain was checked. */
export interface PeerCertificate {
  /** SHA-256 of its issuer and serial number, in hex. */
  readonly id: string;
  /** The subject's CN, O and OU; undefined where it has none, empty where it has several. */
  readonly commonName: string | undefined;
  readonly organization: string | undefined;
  readonly unit: string | undefined;
  /** Its last moment, in milliseconds since 1970. */
  readonly validTo: number;
}

/** The certificate of the connection that a call came by, put there by the server; undefined without mutual TLS. */
export const peerCertificateKey = createContextKey<PeerCertificate | undefined>(undefined, {
  description: 'the client certificate',
});
