import { createContextKey } from '@connectrpc/connect';

/**
 * Where a stream's further messages can be written past the transport's pipeline, when many streams are sent the same:
 * a frame is made once and written to all of them. Gets going with the first message, which goes through the pipeline
 * and brings the headers, and ends with the stream, which the pipeline ends.
 */
export interface FrameSink {
  /**
   * Writes one frame: {@link frameOf} a message, uncompressed.
   *
   * @returns undefined when more can follow at once, else a promise of the reader having taken it
   */
  write(frame: Uint8Array): Promise<void> | undefined;
}

/** Put there by the server for calls that answer with a stream; other transports have none. */
export const frameSinkKey = createContextKey<FrameSink | undefined>(undefined, {
  description: 'where frames are written',
});

const HEAD_BYTES = 5;

/** A message in the envelope that gRPC, gRPC-Web and Connect have in common: flags, length, message. */
export function frameOf(message: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(HEAD_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}
