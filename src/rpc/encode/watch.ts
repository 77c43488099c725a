import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
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

type Init = MessageInitShape<typeof WatchLeasesResponseSchema>;

/** Events as they are on the wire: encoded once, however many watchers are told. */
const encodedEvents = new WeakMap<LogEntry, Uint8Array>();
/** Whole messages, by what they tell: watchers who are told the same get the same. */
const messages = {
  BINARY: new WeakMap<object, WatchLeasesResponse>(),
  JSON: new WeakMap<object, WatchLeasesResponse>(),
} satisfies Record<Format, WeakMap<object, WatchLeasesResponse>>;

/** News as a message. Messages are shared between streams: nobody may change them. */
export function newsMessage(news: News, format: Format): WatchLeasesResponse {
  switch (news.kind) {
    case 'SYNCED':
      return messageOf({ case: 'synced', value: { resumeToken: resumeTokenOf(news.at) } });
    case 'CHECKPOINT':
      return messageOf({ case: 'checkpoint', value: { resumeToken: resumeTokenOf(news.at) } });
    case 'SNAPSHOT':
      return shared(news.leases, format, () =>
        messageOf({ case: 'snapshot', value: { leases: leaseMessages(news) } }),
      );
    case 'LEASES':
      return shared(news.leases, format, () =>
        messageOf({ case: 'leaseState', value: { leases: leaseMessages(news) } }),
      );
    case 'EVENTS':
      return shared(news.entries, format, () => (format === 'JSON' ? readable(news) : encoded(news)));
  }
}

type EventsNews = Extract<News, { kind: 'EVENTS' }>;

const messageOf = (message: Init['message']) =>
  create(WatchLeasesResponseSchema, { ...(message && { message }) });

function shared(told: object, format: Format, make: () => WatchLeasesResponse): WatchLeasesResponse {
  const known = messages[format].get(told);
  if (known) return known;
  const made = make();
  messages[format].set(told, made);
  return made;
}

const leaseMessages = ({ leases, now }: Extract<News, { kind: 'SNAPSHOT' | 'LEASES' }>) =>
  leases.map(({ lease }) => leaseMessage(lease, now, 'OTHERS'));

const readable = ({ entries, at }: EventsNews) =>
  messageOf({
    case: 'events',
    value: { events: entries.map(({ event }) => eventMessage(event)), resumeToken: resumeTokenOf(at) },
  });

/**
 * The events as bytes that are already encoded. Put in as an unknown field, they are written as they are, so that the
 * transport does not encode each event anew for each watcher: it reads the same on the wire.
 */
function encoded({ entries, at }: EventsNews): WatchLeasesResponse {
  const { events, resumeToken } = WatchEventsSchema.field;
  const writer = new BinaryWriter().fork();
  for (const entry of entries) {
    writer.tag(events.number, WireType.LengthDelimited).bytes(encodedEvent(entry));
  }
  writer.tag(resumeToken.number, WireType.LengthDelimited).string(resumeTokenOf(at));
  const message = create(WatchLeasesResponseSchema);
  const data = writer.join().finish();
  message.$unknown = [
    { no: WatchLeasesResponseSchema.field.events.number, wireType: WireType.LengthDelimited, data },
  ];
  return message;
}

function encodedEvent(entry: LogEntry): Uint8Array {
  const known = encodedEvents.get(entry);
  if (known) return known;
  const bytes = toBinary(EventSchema, create(EventSchema, eventMessage(entry.event)));
  encodedEvents.set(entry, bytes);
  return bytes;
}
