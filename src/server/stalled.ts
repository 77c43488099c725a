import { once } from 'node:events';
import { constants } from 'node:http2';
import type { FrameSink } from '../rpc/tail.js';
import { cutOff, type HttpResponse } from './http.js';

/**
 * Passes a stream's body on, and cuts its response off when its reader takes nothing for so long: what waits to be
 * sent would be kept for ever otherwise, and trailers cannot overtake it.
 *
 * @param ms how long one piece may wait for the reader
 */
export async function* cutWhenStalled(
  body: AsyncIterable<Uint8Array>,
  res: HttpResponse,
  ms: number,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    const timer = setTimeout(cut, ms, res);
    try {
      yield piece;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Writes frames to a response, which is cut off in the same way. */
export class ResponseSink implements FrameSink {
  constructor(
    private readonly res: HttpResponse,
    private readonly ms: number,
  ) {}

  write(frame: Uint8Array): Promise<void> | undefined {
    const { res } = this;
    if (isGone(res)) return undefined;
    // The types of the two responses differ in what they may be called with, not in this.
    return (res as NodeJS.WritableStream).write(frame) ? undefined : this.#taken();
  }

  async #taken(): Promise<void> {
    const { res } = this;
    const timer = setTimeout(cut, this.ms, res);
    const gone = new AbortController();
    const close = () => gone.abort();
    res.once('close', close);
    // A response that was closed takes nothing more: its call is over, and was told so by its signal.
    await once(res, 'drain', { signal: gone.signal }).catch(() => {});
    res.off('close', close);
    clearTimeout(timer);
  }
}

/** What was sent last is to be taken in time, too. */
export function cutUnlessClosed(res: HttpResponse, ms: number): void {
  const timer = setTimeout(cut, ms, res);
  res.once('close', () => clearTimeout(timer));
}

export const isGone = (res: HttpResponse) =>
  res.writableEnded || ('stream' in res ? res.stream.destroyed || res.stream.closed : res.destroyed);

/** gRPC clients read this HTTP/2 error as RESOURCE_EXHAUSTED. */
function cut(res: HttpResponse): void {
  if ('stream' in res) res.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  else cutOff(res);
}
