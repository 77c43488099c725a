import {
  Code,
  ConnectError,
  type ContextValues,
  createContextKey,
  createContextValues,
  type Interceptor,
} from '@connectrpc/connect';

/** Node's timers fire at once beyond this many milliseconds (2^31 - 1, about 25 days). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const GRPC_UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

const tooLong = createContextKey<number | undefined>(undefined, {
  description: 'a deadline over the limit, ms',
});

/**
 * The deadline that a request carries, in milliseconds; undefined when it carries none or one that cannot
 * be read (which the protocol's own parser refuses).
 */
export function requestedDeadlineMs(header: Headers): number | undefined {
  const connect = /^\d{1,10}$/.exec(header.get('connect-timeout-ms') ?? '');
  if (connect) return Number(connect[0]);
  const grpc = /^(\d{1,8})([HMSmun])$/.exec(header.get('grpc-timeout') ?? '');
  if (grpc) return Number(grpc[1]) * (GRPC_UNIT_MS[grpc[2] ?? ''] ?? Number.NaN);
  return undefined;
}

/**
 * Takes a deadline that is too long out of the headers, before Connect arms a timer with it: on a stream
 * one beyond what a timer can hold means "no deadline"; on a unary call it is remembered in the returned
 * context values for {@link refuseLongDeadlines}.
 */
export function takeLongDeadline(header: Headers, unary: boolean, maxMs: number): ContextValues {
  const values = createContextValues();
  const asked = requestedDeadlineMs(header);
  if (asked === undefined || asked <= (unary ? maxMs : LONGEST_TIMER_MS)) return values;
  header.delete('connect-timeout-ms');
  header.delete('grpc-timeout');
  if (unary) values.set(tooLong, asked);
  return values;
}

/**
 * Refuses a unary call whose deadline was too long, as an error in the caller's own protocol. An
 * interceptor, so that those around it log and count the refusal like any other.
 */
export function refuseLongDeadlines(maxMs: number): Interceptor {
  return (next) => (req) => {
    const asked = req.contextValues.get(tooLong);
    if (asked === undefined) return next(req);
    throw new ConnectError(
      `the deadline of ${asked / 1000} s is too long: send one of at most ${maxMs / 1000} s, or none`,
      Code.InvalidArgument,
    );
  };
}
