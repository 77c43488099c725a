import { type DescMessage, type Message, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { InvalidRequest, LeaseLost, Refused, type WatchNews, WriteRejected } from '@holdfast/client';
import { HolderSchema } from '@holdfast/proto/guard';
import { EventSchema } from '@holdfast/proto/history';
import { LeaseSchema, RefusalSchema } from '@holdfast/proto/lease';
import type { Json } from './matching.js';

/** The error that a scenario's work throws. */
export class WorkFailed extends Error {}

export function jsonOf(schema: DescMessage, message: Message): Json {
  return toJson(schema, message) as Json;
}

/** What the client threw, as the scenarios have it. */
export function errorJson(error: unknown): Json {
  if (error instanceof WriteRejected) {
    return {
      type: error.name,
      status: statusOf(error.cause),
      code: error.code,
      taskId: error.taskId,
      holder: error.holder ? jsonOf(HolderSchema, error.holder) : null,
      expiresAt: error.expiresAt?.toISOString() ?? null,
      retryAfterMs: error.retryAfterMs ?? null,
      fencingToken: String(error.fencingToken),
      advice: error.advice,
    };
  }
  if (error instanceof Refused) {
    return { type: 'Refused', reason: error.reason, refusal: jsonOf(RefusalSchema, error.refusal) };
  }
  if (error instanceof LeaseLost) return { type: 'LeaseLost', kind: error.kind, taskId: error.taskId };
  if (error instanceof InvalidRequest) {
    const violations = error.violations.map(({ field, description }) => ({ field, description }));
    return { type: 'InvalidRequest', status: statusOf(error.cause), violations };
  }
  if (error instanceof WorkFailed) return { type: 'WorkFailed', message: error.message };
  if (error instanceof ConnectError) return { type: 'RpcError', status: statusOf(error) };
  throw error;
}

/** gRPC's name of an error's code. Connect spells one its own way. */
export function statusOf(error: unknown): string {
  const { code } = error as ConnectError;
  if (code === Code.Canceled) return 'CANCELLED';
  return Code[code].replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** What a watch told, as the scenarios have it. */
export function newsJson(news: WatchNews): Record<string, Json> {
  switch (news.kind) {
    case 'snapshot':
      return { ...news, leases: news.leases.map((lease) => jsonOf(LeaseSchema, lease)) };
    case 'renewed':
      return { ...news, leases: news.leases.map((lease) => jsonOf(LeaseSchema, lease)) };
    case 'event':
      return { ...news, event: jsonOf(EventSchema, news.event) };
    default:
      return { ...news };
  }
}
