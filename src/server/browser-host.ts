import ipaddr from 'ipaddr.js';
import type { HttpRequest } from './http.js';

/** By which names browsers may reach a server. */
export interface HostOptions {
  /** The address that it listens on. */
  readonly listensOn: string;
  /** It serves TLS itself. */
  readonly secure: boolean;
  /** Names beside those of this machine, in lower case and without port. Empty: see {@link createBrowserCheck}. */
  readonly allowedHosts: readonly string[];
}

/** Says why a browser's request is refused; undefined: it is not. */
export type BrowserCheck = (request: Pick<HttpRequest, 'headers'>) => string | undefined;

/**
 * Tells pages of this server from those of other sites, also of one whose name was made to point to this machine.
 *
 * A request with an `Origin` is refused unless that is the host it is sent to, or an allowed one. And it must be sent to
 * an address, to `localhost` or to an allowed host. Without any allowed hosts the latter holds only where nobody else has
 * a reason to call: on the loopback and without TLS, whose certificate would not fit another name.
 */
export function createBrowserCheck({ listensOn, secure, allowedHosts }: HostOptions): BrowserCheck {
  const checksHost = allowedHosts.length > 0 || (!secure && isThisMachine(listensOn));
  return ({ headers }) => {
    const sentTo = String(headers[':authority'] ?? headers.host ?? '');
    const { origin } = headers;
    const from = origin === undefined ? undefined : parse(origin);
    if (origin !== undefined && !(from && (isAt(from, sentTo) || allowedHosts.includes(from.hostname)))) {
      return `a page of ${quote(origin)} may not sign in at ${quote(sentTo)}. Behind a proxy, let it keep the Host header, or name the host in HOLDFAST_ALLOWED_HOSTS`;
    }
    // A proxy ended the TLS: a page of an https address cannot have come to this port by itself.
    const throughProxy = allowedHosts.length === 0 && from?.protocol === 'https:';
    const host = parse(`http://${sentTo}`)?.hostname ?? '';
    if (!checksHost || throughProxy || isAddress(host) || isLocal(host) || allowedHosts.includes(host)) {
      return undefined;
    }
    return `this server does not go by the name ${quote(sentTo)}: use localhost, or name the host in HOLDFAST_ALLOWED_HOSTS`;
  };
}

/** Whether a page comes from where its request is sent to. */
const isAt = (from: URL, sentTo: string): boolean => parse(`${from.protocol}//${sentTo}`)?.host === from.host;

/** Browsers look these up nowhere. */
const isLocal = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** Nobody can make an address point elsewhere. */
const isAddress = (host: string): boolean => ipaddr.isValid(host.replace(/^\[|\]$/g, ''));

const isThisMachine = (address: string): boolean =>
  isLocal(address) || (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback');

const quote = (text: string): string => JSON.stringify(text.slice(0, 200));

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
