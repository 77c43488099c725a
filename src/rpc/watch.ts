import { Code, ConnectError } from '@connectrpc/connect';
import { type LeaseService, WatchEndSchema, WatchGapReason, WatchGapSchema } from '@holdfast/proto/lease';
import { WatchEnded } from '../feed/watcher.js';
import type { ServeStream } from './api.js';
import { newsFrame, newsMessage } from './encode/watch.js';
import { placeIn, resumeTokenOf } from './resume-token.js';
import { filterOf, requireKnown } from './watch-request.js';

/** Tells what happens in a project until the caller, the server or a fault ends it. */
export const watchLeases: ServeStream<typeof LeaseService.method.watchLeases> = async function* (
  { store, sequencer, watches },
  begin,
  request,
  { format, frames },
) {
  const { project, identity, signal } = await begin();
  const filter = filterOf(request);
  const after = request.resumeAfter ? placeIn(request.resumeAfter, project) : undefined;
  await requireKnown(store, project, filter, after !== undefined);
  // Whoever watches after a write finds it in the snapshot, not among the news.
  if (!after) await sequencer.catchUp();
  const token = { project: identity.project, id: identity.tokenId };
  const watcher = await watches.open({ project, filter, token, after }).catch((ended) => {
    throw endError(ended, signal);
  });
  // Not only in `finally`: a stream whose reader is gone may be left at a `yield` for a while.
  const callOff = () => {
    watcher.end({ kind: 'CALLED_OFF' });
    watches.close(watcher);
  };
  signal.addEventListener('abort', callOff);
  if (signal.aborted) callOff();
  try {
    yield newsMessage(await watcher.next());
    for (;;) {
      const news = await watcher.next();
      if (frames) await frames.write(newsFrame(news, format));
      else yield newsMessage(news);
    }
  } catch (error) {
    throw endError(error, signal);
  } finally {
    signal.removeEventListener('abort', callOff);
    watches.close(watcher);
  }
};

/** How the end of a watch is told: with where to go on, if it can. */
function endError(error: unknown, signal: AbortSignal): unknown {
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
      const cause = ConnectError.from(signal.reason);
      return cause.code === Code.Unavailable ? ended(cause.rawMessage, cause.code) : cause;
    }
  }
}
