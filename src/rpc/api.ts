import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { Problem } from '../domain/problem.js';
import type { Sequencer } from '../feed/sequencer.js';
import type { WaitingRoom } from '../feed/waiting-room.js';
import type { WatchHub } from '../feed/watch-hub.js';
import type { WebhookTargets } from '../feed/webhook-targets.js';
import type { Outcome } from '../store/mutate.js';
import type { Store } from '../store/store.js';
import { type Call, callOf, repeated } from './call.js';
import { ProblemError } from './problems.js';
import { handoverOf, type Tail } from './tail.js';

/** What the services work with. */
export interface Api {
  readonly store: Store;
  readonly sequencer: Sequencer;
  readonly waiting: WaitingRoom;
  readonly watches: WatchHub;
  readonly targets: WebhookTargets;
}

/** A service function: message and call in, message out. It knows nothing of transports. */
type Serve<M extends DescMethodUnary> = (
  api: Api,
  call: Call,
  request: MessageShape<M['input']>,
) => Promise<MessageInitShape<M['output']>>;

/** How a call's messages are encoded. */
export type Format = 'BINARY' | 'JSON';

/** How a stream's messages get to its reader. */
interface Outlet {
  readonly format: Format;
  /** Leaves all behind the next message to a tail; undefined where the transport has no such thing. */
  readonly handOver: ((tail: Tail) => void) | undefined;
}

/**
 * The same for a stream: one message in, many out, until the call's signal is aborted.
 *
 * @param begin works out the call
 */
export type ServeStream<M extends DescMethodServerStreaming> = (
  api: Api,
  begin: () => Promise<Call>,
  request: MessageShape<M['input']>,
  outlet: Outlet,
) => AsyncIterable<MessageInitShape<M['output']>>;

/** The functions of one service, named as in the .proto. */
export type ServiceFunctions<Methods extends Record<string, unknown>> = {
  [K in keyof Methods as Methods[K] extends DescMethodUnary ? K : never]?: Methods[K] extends DescMethodUnary
    ? Serve<Methods[K]>
    : never;
};

/** Puts a service's functions behind Connect: each call gets its caller and project worked out. */
export function handlers<Functions extends object>(api: Api, functions: Functions) {
  const entries = Object.entries(functions as Record<string, Serve<DescMethodUnary>>);
  return Object.fromEntries(
    entries.map(([name, serve]) => [
      name,
      async (request: MessageShape<DescMethodUnary['input']>, context: HandlerContext) =>
        serve(api, await callOf(api.store, request, context), request),
    ]),
  );
}

/** The same for functions that answer with a stream. */
export function streamHandlers<Functions extends object>(api: Api, functions: Functions) {
  const entries = Object.entries(functions as Record<string, ServeStream<DescMethodServerStreaming>>);
  return Object.fromEntries(
    entries.map(([name, serve]) => [
      name,
      (request: MessageShape<DescMethodServerStreaming['input']>, context: HandlerContext) => {
        const json = /\bjson\b/.test(context.requestHeader.get('content-type') ?? '');
        const handover = handoverOf(context.values);
        const handOver = (tail: Tail) => {
          if (handover) handover.taken = { tail, leftMs: context.timeoutMs() };
        };
        const outlet: Outlet = { format: json ? 'JSON' : 'BINARY', handOver: handover && handOver };
        return serve(api, () => callOf(api.store, request, context), request, outlet);
      },
    ]),
  );
}

export function fail(problem: Problem): never {
  throw new ProblemError(problem);
}

/** A mutation that was done. */
export type Done<Answer> = Extract<Outcome<Answer>, { kind: 'DONE' }>;

/** The outcome of a mutation that is not remembered under a request id, or the problem as an error. */
export function done<Answer>(outcome: Outcome<Answer>): Done<Answer> {
  if (outcome.kind === 'PROBLEM') fail(outcome.problem);
  if (outcome.kind === 'REPEATED') throw new Error('a request without an id was remembered');
  return outcome;
}

/** The outcome, or what an earlier application of the same request made. */
export function doneOrRef<Answer>(
  outcome: Outcome<Answer>,
): Done<Answer> | { kind: 'REPEATED'; ref: string } {
  if (outcome.kind === 'PROBLEM') fail(outcome.problem);
  return outcome.kind === 'REPEATED' ? { kind: 'REPEATED', ref: repeated(outcome.request) } : outcome;
}
