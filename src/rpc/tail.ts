import { type ContextValues, createContextKey } from '@connectrpc/connect';

/** Where frames are written past the transport's pipeline. */
export interface FrameSink {
  /**
   * Writes one frame: an uncompressed message in the envelope that gRPC, gRPC-Web and Connect have in common.
   *
   * @returns undefined when more can follow at once, else a promise of the reader having taken it
   */
  write(frame: Uint8Array): Promise<void> | undefined;
}

/**
 * What of a stream comes behind its first message. The pipeline that a call goes through costs as much memory as the
 * connection and all else of a stream together, so a stream that stays open does without it: the pipeline is let go
 * once it has made the first message and the headers, and a frame is made once for all streams that are sent the same.
 */
export interface Tail {
  /** Writes frames until the stream is over, and rejects with what ended it. */
  tell(frames: FrameSink): Promise<never>;
  /** The caller is gone, its deadline has passed, or the server stops: ends `tell` with that. May be called twice. */
  callOff(reason: unknown): void;
}

/** What becomes of a stream's end. */
export interface StreamEnd {
  /** What is thrown instead of what a stream failed with. */
  readonly failed?: (error: unknown) => unknown;
  /** Told once how it ended: with an error, by itself, or because its reader left. */
  readonly ended?: (how: HowEnded) => void;
}

export type HowEnded = { readonly error: unknown } | 'DONE' | 'LEFT';

/** A stream's way out of the pipeline. */
export interface Handover {
  /** What goes on behind the first message, with how many milliseconds left if the call has a deadline. */
  taken: { readonly tail: Tail; readonly leftMs: number | undefined } | undefined;
  /** Those around the stream who are told its end, innermost first. */
  readonly ends: StreamEnd[];
}

const handoverKey = createContextKey<Handover | undefined>(undefined, {
  description: 'the way out of the pipeline',
});

/** Offers a call a way out of the pipeline. Transports that can do no such thing do not. */
export function offerHandover(values: ContextValues): Handover {
  const handover: Handover = { taken: undefined, ends: [] };
  values.set(handoverKey, handover);
  return handover;
}

export const handoverOf = (values: ContextValues): Handover | undefined => values.get(handoverKey);

/** Tells those around a stream what ended its tail. Answers what its caller is told. */
export function endWith(thrown: unknown, ends: readonly StreamEnd[]): unknown {
  return ends.reduce((error, { failed, ended }) => {
    ended?.({ error });
    return failed ? failed(error) : error;
  }, thrown);
}
