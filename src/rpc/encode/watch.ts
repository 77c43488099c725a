import { create, type MessageInitShape, toBinary, toJsonString } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { encodeEnvelope } from '@connectrpc/connect/protocol';
import { EventSchema } from '@holdfast/proto/history';
import {
  WatchEventsSchema,
  type WatchLeasesResponse,
  WatchLeasesResponseSchema,
} from '@holdfast/proto/lease';
import type { News } from '../../feed/watcher.js';
import type { LogEntry } from '../../store/watch-log.js';
import type { Format } from '../api.js';
import { resumeTokenOf } from '../resume-token.js';
import { eventMessage } from './event.js';
import { leaseMessage } from './lease.js';

/** News as a message. */
export function newsMessage(news: News): WatchLeasesResponse {
  return create(WatchLeasesResponseSchema, { message: contentOf(news) });
}

type Content = NonNullable<MessageInitShape<typeof WatchLeasesResponseSchema>['message']>;

function contentOf(news: News): Content {
  switch (news.kind) {
    case 'SYNCED':
      return { case: 'synced', value: { resumeToken: resumeTokenOf(news.at) } };
    case 'CHECKPOINT':
      return { case: 'checkpoint', value: { resumeToken: resumeTokenOf(news.at) } };
    case 'SNAPSHOT':
      return { case: 'snapshot', value: { leases: leaseMessages(news) } };
    case 'LEASES':
      return { case: 'leaseState', value: { leases: leaseMessages(news) } };
    case 'EVENTS': {
      const events = news.entries.map(({ event }) => eventMessage(event));
      return { case: 'events', value: { events, resumeToken: resumeTokenOf(news.at) } };
    }
  }
}

const leaseMessages = ({ leases, now }: Extract<News, { kind: 'SNAPSHOT' | 'LEASES' }>) =>
  leases.map(({ lease }) => leaseMessage(lease, now, 'OTHERS'));

/** Frames by what they tell: watchers who are told the very same get the very same bytes. */
const frames = {
  BINARY: new WeakMap<object, Uint8Array>(),
  JSON: new WeakMap<object, Uint8Array>(),
} satisfies Record<Format, WeakMap<object, Uint8Array>>;

/** News as it is on the wire. Frames are shared between streams: nobody may change them. */
export function newsFrame(news: News, format: Format): Uint8Array {
  const told = news.kind === 'EVENTS' ? news.entries : 'leases' in news ? news.leases : news.at;
  const known = frames[format].get(told);
  if (known) return known;
  const envelope = encodeEnvelope(0, format === 'JSON' ? asJson(news) : asBinary(news));
  // As a Buffer, which is otherwise made of it at every write.
  const frame = Buffer.from(envelope.buffer);
  frames[format].set(told, frame);
  return frame;
}

const asJson = (news: News) => Buffer.from(toJsonString(WatchLeasesResponseSchema, newsMessage(news)));

function asBinary(news: News): Uint8Array {
  return news.kind === 'EVENTS'
    ? eventsAsBinary(news)
    : toBinary(WatchLeasesResponseSchema, newsMessage(news));
}

/** Events are encoded one by one, so that watchers with other filters need not encode them again. */
function eventsAsBinary({ entries, at }: Extract<News, { kind: 'EVENTS' }>): Uint8Array {
  const { events, resumeToken } = WatchEventsSchema.field;
  const writer = new BinaryWriter();
  writer.tag(WatchLeasesResponseSchema.field.events.number, WireType.LengthDelimited).fork();
  for (const entry of entries)
    writer.tag(events.number, WireType.LengthDelimited).bytes(eventAsBinary(entry));
  writer.tag(resumeToken.number, WireType.LengthDelimited).string(resumeTokenOf(at));
  return writer.join().finish();
}

const encodedEvents = new WeakMap<LogEntry, Uint8Array>();

function eventAsBinary(entry: LogEntry): Uint8Array {
  const known = encodedEvents.get(entry);
  if (known) return known;
  const bytes = toBinary(EventSchema, create(EventSchema, eventMessage(entry.event)));
  encodedEvents.set(entry, bytes);
  return bytes;
}
