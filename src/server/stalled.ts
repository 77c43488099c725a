import { constants } from 'node:http2';
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

/** gRPC clients read this HTTP/2 error as RESOURCE_EXHAUSTED. */
function cut(res: HttpResponse): void {
  if ('stream' in res) res.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  else cutOff(res);
}
