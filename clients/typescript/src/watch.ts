import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Event } from '@holdfast/proto/history';
import {
  type Lease,
  WatchEndSchema,
  WatchGapReason,
  WatchGapSchema,
  type WatchLeasesRequestSchema,
  type WatchLeasesResponse,
} from '@holdfast/proto/lease';
import { watchPauseMs } from './backoff.js';
import { type Clock, sleep, systemClock } from './clock.js';
import { typedError } from './errors.js';
import type { Holdfast } from './holdfast.js';

/** What a watch tells, in order. */
export type WatchNews =
  /** How things are now: the live leases. First of all, and again after a gap; forget what you knew of leases. */
  | { readonly kind: 'snapshot'; readonly leases: readonly Lease[]; readonly resumeToken: string }
  /** Something happened. Positions rise strictly; none is told twice. */
  | { readonly kind: 'event'; readonly event: Event }
  /** All events up to here were told: keep the token to go on from here, after a restart too. */
  | { readonly kind: 'checkpoint'; readonly resumeToken: string }
  /** New deadlines of renewed leases. Best effort. */
  | { readonly kind: 'renewed'; readonly leases: readonly Lease[] }
  /** Events were missed: pruned from the history before they were read, or the database was restored. A snapshot follows. */
  | { readonly kind: 'gap'; readonly reason: 'COMPACTED' | 'RESET' };

/** How the connection stands. */
export type WatchConnection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** Lost; tried again in `inMs`. `attempt` counts from 1 since it was last live. */
  | { readonly state: 'waiting'; readonly attempt: number; readonly inMs: number; readonly error: unknown };

/** What to watch, and from where. */
export interface WatchOptions
  extends Omit<MessageInitShape<typeof WatchLeasesRequestSchema>, '$typeName' | '$unknown' | 'resumeAfter'> {
  /** A token of an earlier watch with the same filter: told is exactly what came after it, and no snapshot. */
  resumeAfter?: string;
  /** Ends the watch: the iteration then stops without an error. */
  signal?: AbortSignal;
  /** Told whenever the connection changes. */
  onConnection?: (connection: WatchConnection) => void;
  clock?: Clock;
  /** Between 0 and 1, for the jitter. */
  random?: () => number;
}

/** The server sends a checkpoint every 15 s: after three in silence, the connection is taken for dead. In ms. */
const SILENCE_MS = 45_000;

/** Trying again cannot help: somebody has to change the request, the token or the server. */
const FINAL: readonly Code[] = [
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.Unimplemented,
];

/**
 * Watches a project for as long as you iterate. Connects again by itself and goes on where it stopped: nothing is
 * missed without a `gap`, nothing is told twice.
 *
 * @throws what the server refuses for good: a wrong filter or token, no permission
 */
export async function* watch(holdfast: Holdfast, options: WatchOptions = {}): AsyncGenerator<WatchNews> {
  const { signal, onConnection = () => {}, clock = systemClock, random = Math.random } = options;
  const place: Place = { token: options.resumeAfter, position: 0n };
  let failures = 0;
  while (!signal?.aborted) {
    onConnection({ state: 'connecting' });
    let live = false;
    let failure: unknown;
    try {
      for await (const message of messages(holdfast, options, place, clock)) {
        if (!live) onConnection({ state: 'live' });
        live = true;
        failures = 0;
        yield* newsOf(message, place);
      }
    } catch (error) {
      failure = error;
    }
    if (signal?.aborted) return;
    const gap = gapOf(failure);
    if (gap) {
      place.token = undefined;
      place.position = 0n;
      yield { kind: 'gap', reason: gap };
    } else if (isFinal(failure)) {
      throw typedError(failure);
    }
    const end = failure instanceof ConnectError ? failure.findDetails(WatchEndSchema)[0] : undefined;
    if (end?.resumeToken) place.token = end.resumeToken;
    failures += 1;
    const inMs = watchPauseMs(failures, random());
    onConnection({ state: 'waiting', attempt: failures, inMs, error: failure });
    await sleep(clock, inMs, signal).catch(() => {});
  }
}

/** A stream that just ends was cut; what is no ConnectError is a fault of this program. */
function isFinal(failure: unknown): boolean {
  if (failure === undefined) return false;
  return !(failure instanceof ConnectError) || FINAL.includes(failure.code);
}

/** How far a watch has come. */
interface Place {
  token: string | undefined;
  position: bigint;
  /** The leases of a snapshot that is not complete yet. */
  gathered?: Lease[];
}

function* newsOf({ message }: WatchLeasesResponse, place: Place): Generator<WatchNews> {
  switch (message.case) {
    case 'snapshot':
      place.gathered ??= [];
      place.gathered.push(...message.value.leases);
      return;
    case 'synced': {
      const leases = place.gathered ?? [];
      delete place.gathered;
      place.token = message.value.resumeToken;
      yield { kind: 'snapshot', leases, resumeToken: place.token };
      return;
    }
    case 'events':
      for (const event of message.value.events) {
        if (event.position <= place.position) continue;
        place.position = event.position;
        yield { kind: 'event', event };
      }
      place.token = message.value.resumeToken;
      yield { kind: 'checkpoint', resumeToken: place.token };
      return;
    case 'checkpoint':
      place.token = message.value.resumeToken;
      yield { kind: 'checkpoint', resumeToken: place.token };
      return;
    case 'leaseState':
      yield { kind: 'renewed', leases: message.value.leases };
  }
}

/** One stream. Ends with an error when nothing came for too long. */
async function* messages(
  holdfast: Holdfast,
  { signal, onConnection: _told, clock: _clock, random: _random, ...request }: WatchOptions,
  place: Place,
  clock: Clock,
): AsyncGenerator<WatchLeasesResponse> {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal?.addEventListener('abort', end, { once: true });
  delete place.gathered;
  let cancelSilence = clock.after(SILENCE_MS, end);
  try {
    const stream = holdfast.leases.watchLeases(
      { ...request, resumeAfter: place.token ?? '' },
      { signal: ended.signal, timeoutMs: 0 },
    );
    for await (const message of stream) {
      // While the reader is busy, silence is its own.
      cancelSilence();
      yield message;
      cancelSilence = clock.after(SILENCE_MS, end);
    }
  } finally {
    cancelSilence();
    signal?.removeEventListener('abort', end);
    end();
  }
}

function gapOf(error: unknown): 'COMPACTED' | 'RESET' | undefined {
  if (!(error instanceof ConnectError) || error.code !== Code.OutOfRange) return undefined;
  const gap = error.findDetails(WatchGapSchema)[0];
  return gap?.reason === WatchGapReason.COMPACTED ? 'COMPACTED' : 'RESET';
}
