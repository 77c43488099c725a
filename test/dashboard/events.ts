import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Event, EventKind, EventSchema } from '@holdfast/proto/history';

export const holder = (principal: string) => ({ principal, executionId: `${principal}-run` });

/** An event of one task, `atMs` after 1970, in the order in which they are made. */
export function eventMaker() {
  let position = 0n;
  return (
    kind: keyof typeof EventKind,
    atMs: number,
    about: Omit<MessageInitShape<typeof EventSchema>, '$typeName' | 'kind' | 'at' | 'position'> = {},
  ): Event => {
    position += 1n;
    return create(EventSchema, {
      position,
      kind: EventKind[kind],
      at: timestampFromMs(atMs),
      taskId: 't',
      fencingToken: 1n,
      ...about,
    });
  };
}

export const granted = (principal: string, atMs: number, ttlMs = 1_000) => ({
  actor: principal,
  executionId: `${principal}-run`,
  payload: {
    case: 'leaseGranted' as const,
    value: {
      holder: holder(principal),
      expiresAt: timestampFromMs(atMs + ttlMs),
      ttl: durationFromMs(ttlMs),
      attempt: 1,
    },
  },
});

export const ended = (principal: string, cause = 1) => ({
  payload: { case: 'leaseEnded' as const, value: { holder: holder(principal), cause } },
});
