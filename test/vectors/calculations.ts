import { create, type DescMethodUnary } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { RetryAdviceSchema } from '@holdfast/proto/guard';
import { HistoryService } from '@holdfast/proto/history';
import { LeaseSchema, LeaseService } from '@holdfast/proto/lease';
import { ProjectService } from '@holdfast/proto/project';
import { TaskService } from '@holdfast/proto/task';
import { retryPauseMs, watchPauseMs } from '../../clients/typescript/src/backoff.js';
import type { Instant } from '../../clients/typescript/src/clock.js';
import {
  msUntil,
  renewalDelayMs,
  renewalRetryDelayMs,
  renewalTimeoutMs,
  safetyMarginMs,
  safeUntil,
} from '../../clients/typescript/src/deadline.js';
import { isRepeated } from '../../clients/typescript/src/retry.js';
import type { Json } from './matching.js';
import { statusOf } from './told.js';

/** What the scenarios give to a function. */
interface Input {
  ttlMs: number;
  remainingMs: number;
  leftMs: number;
  random: number;
  failures: number;
  attempt: number;
  retryAfterMs?: number;
  asked: Instant;
  deadline: Instant;
  now: Instant;
  rpc: string;
  status: string;
}

const FUNCTIONS: Record<string, (input: Input) => object> = {
  safetyMargin: ({ ttlMs }) => ({ marginMs: safetyMarginMs(ttlMs) }),
  safeUntil: (input) => safeUntil(leaseOf(input), input.asked),
  timeLeft: ({ deadline, now }) => ({ leftMs: msUntil(deadline, now) }),
  renewalDelay: (input) => ({ delayMs: renewalDelayMs(leaseOf(input), () => input.random) }),
  renewalRetryDelay: ({ ttlMs, failures, random }) => ({
    delayMs: renewalRetryDelayMs(ttlMs, failures, random),
  }),
  renewalTimeout: ({ ttlMs, leftMs }) => ({ timeoutMs: renewalTimeoutMs(ttlMs, leftMs) }),
  retries: retries,
  retryPause: ({ attempt, random, retryAfterMs }) => ({
    pauseMs: retryPauseMs(attempt, random, retryAfterMs),
  }),
  watchPause: ({ failures, random }) => ({ pauseMs: watchPauseMs(failures, random) }),
};

/** Calls the client's own function of that name. */
export function calculate(name: string, input: Record<string, Json>): Json {
  const known = FUNCTIONS[name];
  if (!known) throw new Error(`the runner does not know the function ${name}`);
  return known(input as unknown as Input) as Json;
}

function leaseOf({ ttlMs, remainingMs }: Input) {
  return create(LeaseSchema, { ttl: durationFromMs(ttlMs), remaining: durationFromMs(remainingMs) });
}

function retries({ rpc, status, retryAfterMs }: Input): { retries: boolean } {
  const [service = '', name = ''] = rpc.split('/');
  const services = [LeaseService, TaskService, HistoryService, ProjectService];
  const method = services.find((one) => one.name === service)?.methods.find((one) => one.name === name);
  const code = Object.values(Code).find(
    (one) => typeof one === 'number' && statusOf({ code: one }) === status,
  );
  if (!method || code === undefined) throw new Error(`there is no ${rpc} or ${status}`);
  const details =
    retryAfterMs === undefined
      ? []
      : [{ desc: RetryAdviceSchema, value: { retryAfter: durationFromMs(retryAfterMs) } }];
  const answered = new ConnectError('', code as Code, { 'content-type': 'application/json' }, details);
  return { retries: method.methodKind === 'unary' && isRepeated(method as DescMethodUnary, answered) };
}
