/** A message as it is on the wire. */
export interface Frame {
  readonly flags: number;
  readonly data: Buffer;
}

/**
 * Cuts a stream's body into its frames: one byte of flags, four of the length, then the message.
 *
 * @throws when it ends within one
 */
export async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let buffered: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= 5 && buffered.length >= 5 + buffered.readUInt32BE(1)) {
      const end = 5 + buffered.readUInt32BE(1);
      yield { flags: buffered[0] ?? 0, data: buffered.subarray(5, end) };
      buffered = buffered.subarray(end);
    }
  }
  if (buffered.length > 0) throw new Error(`half a frame: ${buffered.toString('latin1')}`);
}
