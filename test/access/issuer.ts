import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll } from 'vitest';

/** An identity provider on the loopback. It ends with the test file. */
export interface Issuer {
  readonly url: string;
  /** Signs a token, good for ten minutes unless the claims say otherwise; null leaves a claim out. */
  token(claims: Readonly<Record<string, unknown>>, key?: CryptoKey): Promise<string>;
  /** A key that it has never published. */
  readonly strangeKey: CryptoKey;
  /** How often its keys were asked for. */
  asked: number;
  /** What answers nothing but 503. */
  down: 'ALL' | 'KEYS' | undefined;
}

export async function startIssuer(audience: string): Promise<Issuer> {
  const newKey = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
  };
  const key = await newKey('first');
  const { privateKey: strangeKey } = await generateKeyPair('ES256');
  const server = createServer((request, response) => {
    if (issuer.down === 'ALL' || (issuer.down === 'KEYS' && request.url === '/keys'))
      return void response.writeHead(503).end();
    response.setHeader('content-type', 'application/json');
    if (request.url === '/.well-known/openid-configuration') {
      return void response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }));
    }
    issuer.asked++;
    response.end(JSON.stringify({ keys: [key.jwk] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer: Issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: (claims, signing = key.privateKey) => {
      const now = Math.floor(Date.now() / 1_000);
      const all = { iss: issuer.url, aud: audience, iat: now, exp: now + 600, ...claims };
      return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)))
        .setProtectedHeader({ alg: 'ES256', kid: key.kid })
        .sign(signing);
    },
    strangeKey,
    asked: 0,
    down: undefined,
  };
  return issuer;
}
