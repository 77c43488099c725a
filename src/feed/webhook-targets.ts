import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address that a name stands for. */
interface Address {
  readonly address: string;
  readonly family: number;
}

/** Finds all addresses of a name; rejects when there are none. */
type Resolve = (hostname: string) => Promise<readonly Address[]>;

export interface TargetPolicy {
  /** Also loopback, private and other addresses that are not of the public internet. */
  readonly allowPrivate: boolean;
  /** The system's, unless another is given. */
  readonly resolve?: Resolve;
}

/** Where webhooks may post to. */
export interface WebhookTargets {
  /** What is wrong with a URL, as far as can be told now; undefined: nothing. */
  faultOf(url: string): Promise<string | undefined>;
  /** What is wrong with a URL's host when that is an address or a name of this machine; undefined: nothing. */
  hostFaultOf(url: URL): string | undefined;
  /** Resolves a name for a connection, which is made to what was judged here and to nothing else. */
  readonly lookup: LookupFunction;
}

/** A connection is not made, because of where it would lead. */
export class ForbiddenTarget extends Error {
  override readonly name = 'ForbiddenTarget';
}

const PRIVATE =
  'leads to an address that is not public; WEBHOOK_ALLOW_PRIVATE=true at the server allows those';

/** A name that cannot be resolved in so many milliseconds is judged when it is connected to. */
const RESOLVED_WITHIN_MS = 2_000;

/** A URL's host without the brackets of an IPv6 address. */
const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

const systemResolve: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/**
 * Keeps webhooks from reaching what only this machine can reach. An address is judged when a webhook is created, to
 * tell early, and at every connection, since a name can lead elsewhere at any time.
 */
export function createWebhookTargets({
  allowPrivate,
  resolve = systemResolve,
}: TargetPolicy): WebhookTargets {
  const allowed = (address: string) => allowPrivate || isPublic(address);

  const hostFaultOf = ({ hostname }: URL): string | undefined => {
    if (allowPrivate) return undefined;
    const host = bare(hostname);
    if (ipaddr.isValid(host)) return isPublic(host) ? undefined : PRIVATE;
    return /^(.+\.)?localhost\.?$/.test(host) ? PRIVATE : undefined;
  };

  const addressesOf = async (hostname: string): Promise<readonly Address[]> => {
    const found = await resolve(hostname);
    // One bad address is enough: the next connection could take it.
    if (!found.every(({ address }) => allowed(address))) throw new ForbiddenTarget(PRIVATE);
    return found;
  };

  return {
    hostFaultOf,
    async faultOf(text) {
      if (!URL.canParse(text)) return 'is not a URL; it looks like https://example.com/hook';
      const url = new URL(text);
      if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with https:// or http://';
      if (url.username !== '' || url.password !== '') {
        return 'must not hold a user or password; deliveries are signed instead';
      }
      if (url.hash !== '') return 'must not have a fragment (#…): it is never sent';
      const fault = hostFaultOf(url);
      if (fault !== undefined || allowPrivate || ipaddr.isValid(bare(url.hostname))) return fault;
      const outcome = await within(RESOLVED_WITHIN_MS, addressesOf(url.hostname));
      return outcome instanceof ForbiddenTarget ? outcome.message : undefined;
    },
    lookup(hostname, options, callback) {
      addressesOf(hostname).then(
        (found) => {
          const wanted = found.filter(({ family }) => !options.family || family === options.family);
          const [first] = wanted;
          if (options.all) callback(null, [...wanted]);
          else if (first) callback(null, first.address, first.family);
          else callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
        },
        (error) => callback(error, ''),
      );
    },
  };
}

/** What a promise comes to, its error included, or undefined when that takes too long. */
function within(ms: number, promise: Promise<unknown>): Promise<unknown> {
  return new Promise((settle) => {
    const timer = setTimeout(settle, ms);
    promise
      .catch((error: unknown) => error)
      .then((outcome) => {
        clearTimeout(timer);
        settle(outcome);
      });
  });
}

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public internet: what is not known to be is not. IPv6 addresses that carry an IPv4
 * address inside (mapped, translated, tunnelled) are none, whichever they carry.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST));
}
