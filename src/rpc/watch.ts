import { Code, ConnectError } from '@connectrpc/connect';
import { type LeaseService, WatchEndSchema, WatchGapReason, WatchGapSchema } from '@holdfast/proto/lease';
import type { WatchHub } from '../feed/watch-hub.js';
import { WatchEnded, type Watcher } from '../feed/watcher.js';
import type { Format, ServeStream } from './api.js';
import { newsFrame, newsMessage } from './encode/watch.js';
import { placeIn, resumeTokenOf } from './resume-token.js';
import type { Tail } from './tail.js';
import { filterOf, requireKnown } from './watch-request.js';

/** Tells what happens in a project until the caller, the server or a fault ends it. */
export const watchLeases: ServeStream<typeof LeaseService.method.watchLeases> = async function* (
  { store, sequencer, watches },
  begin,
  request,
  { format, handOver },
) {
  const { project, identity, signal } = await begin();
  const filter = filterOf(request);
  const after = request.resumeAfter ? placeIn(request.resumeAfter, project) : undefined;
  await requireKnown(store, project, filter, after !== undefined);
  // Whoever watches after a write finds it in the snapshot, not among the news.
  if (!after) await sequencer.catchUp();
  const token = { project: identity.project, id: identity.tokenId };
  const watcher = await watches.open({ project, filter, token, after }).catch((ended) => {
    throw endError(ended);
  });
  const tail = tailOf(watches, watcher, format);
  // Not only in `finally`: a stream whose reader is gone may be left at a `yield` for a while.
  const callOff = () => tail.callOff(signal.reason);
  signal.addEventListener('abort', callOff);
  if (signal.aborted) callOff();
  let handedOver = false;
  try {
    const first = newsMessage(await watcher.next());
    if (handOver) {
      // Letting go of the pipeline aborts its signal, too.
      signal.removeEventListener('abort', callOff);
      handOver(tail);
      handedOver = true;
    }
    yield first;
    while (!handedOver) yield newsMessage(await watcher.next());
  } catch (error) {
    throw endError(error);
  } finally {
    signal.removeEventListener('abort', callOff);
    if (!handedOver) watches.close(watcher);
  }
};

/** A function of its own: what it does not refer to is not kept as long as the stream is open. */
function tailOf(watches: WatchHub, watcher: Watcher, format: Format): Tail {
  return {
    async tell(frames) {
      try {
        for (;;) {
          const taken = frames.write(newsFrame(await watcher.next(), format));
          if (taken) await taken;
        }
      } catch (error) {
        throw endError(error);
      } finally {
        watches.close(watcher);
      }
    },
    callOff(why) {
      watcher.end({ kind: 'CALLED_OFF', why });
      watches.close(watcher);
    },
  };
}

/** How the end of a watch is told: with where to go on, if it can. */
function endError(error: unknown): unknown {
  if (!(error instanceof WatchEnded)) return error;
  const { reason, at } = error;
  const ended = (message: string, code: Code) =>
    new ConnectError(message, code, undefined, [
      { desc: WatchEndSchema, value: { resumeToken: resumeTokenOf(at) } },
    ]);
  switch (reason.kind) {
    case 'COMPACTED':
      return new ConnectError(
        `COMPACTED: events up to position ${reason.floor} are no longer kept. Watch again without resume_after, or go on from the oldest event with the resume_token in the details.`,
        Code.OutOfRange,
        undefined,
        [
          {
            desc: WatchGapSchema,
            value: {
              reason: WatchGapReason.COMPACTED,
              floor: reason.floor,
              resumeToken: resumeTokenOf({ ...at, position: reason.floor }),
            },
          },
        ],
      );
    case 'RESET':
      return new ConnectError(
        'RESET: the database is not the one that gave the resume token, or was set back. Watch again without resume_after.',
        Code.OutOfRange,
        undefined,
        [{ desc: WatchGapSchema, value: { reason: WatchGapReason.RESET } }],
      );
    case 'STALLED':
      return ended(
        'The stream was not read for too long. Read faster or filter more, and resume with the token in the details.',
        Code.ResourceExhausted,
      );
    case 'TOKEN_INVALID':
      return ended('The token of this stream was revoked or has expired.', Code.Unauthenticated);
    case 'CALLED_OFF': {
      const cause = ConnectError.from(reason.why);
      return cause.code === Code.Unavailable ? ended(cause.rawMessage, cause.code) : cause;
    }
  }
}
