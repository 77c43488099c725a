import { once } from 'node:events';
import { type IncomingHttpHeaders, request as requestHttp1 } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { Readable } from 'node:stream';
import { fromBinary, fromJsonString } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { endStreamFlag, endStreamFromJson } from '@connectrpc/connect/protocol-connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerParse } from '@connectrpc/connect/protocol-grpc-web';
import { type WatchLeasesResponse, WatchLeasesResponseSchema } from '@holdfast/proto/lease';
import { type Frame, framesOf } from '../support/frames.js';

/** In which protocol, with which encoding, over which HTTP. */
export interface Wire {
  readonly type: string;
  readonly http: 1 | 2;
}

export const WIRES: readonly Wire[] = [
  { type: 'application/connect+proto', http: 1 },
  { type: 'application/connect+json', http: 1 },
  { type: 'application/connect+proto', http: 2 },
  { type: 'application/grpc-web+proto', http: 1 },
  { type: 'application/grpc-web+json', http: 2 },
  { type: 'application/grpc+proto', http: 1 },
  { type: 'application/grpc+proto', http: 2 },
  { type: 'application/grpc+json', http: 2 },
];

const PATH = '/holdfast.v1.LeaseService/WatchLeases';

/** A watch without a client's library: what is on the wire. */
export class RawWatch {
  readonly messages: WatchLeasesResponse['message'][] = [];
  /** How it ended, as its protocol says it: the error, and the names of what it was read from. */
  end: { readonly error: ConnectError | undefined; readonly fields: readonly string[] } | undefined;
  /** Goes away without a word. */
  readonly leave: () => void;
  /** Fulfilled when the response is complete, or broken. */
  readonly ended: Promise<void>;

  constructor(
    url: string,
    token: string,
    readonly wire: Wire,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const all = { 'content-type': wire.type, authorization: `Bearer ${token}`, ...headers };
    const body = Buffer.from(wire.type.endsWith('json') ? '\0\0\0\0\x02{}' : '\0\0\0\0\0');
    if (wire.http === 1) {
      const request = requestHttp1(`${url}${PATH}`, { method: 'POST', headers: all, agent: false });
      request.on('error', () => {});
      request.end(body);
      this.leave = () => request.destroy();
      this.ended = once(request, 'response').then(([response]) =>
        this.#read(response, () => response.trailers),
      );
    } else {
      const session = connectHttp2(url);
      session.on('error', () => {});
      const stream = session.request({ ':method': 'POST', ':path': PATH, te: 'trailers', ...all });
      let trailers: IncomingHttpHeaders = {};
      stream.once('trailers', (them) => {
        trailers = them;
      });
      stream.end(body);
      this.leave = () => session.destroy();
      this.ended = this.#read(stream, () => trailers).finally(() => session.destroy());
    }
    this.ended.catch(() => {});
  }

  /** The newest resume token. */
  get token(): string {
    const tokens = this.messages.map(({ value }) =>
      value && 'resumeToken' in value ? value.resumeToken : '',
    );
    return tokens.findLast((token) => token !== '') ?? '';
  }

  async #read(body: Readable, trailersOf: () => object): Promise<void> {
    for await (const frame of framesOf(body)) this.#frame(frame);
    if (this.end) return;
    const trailers = new Headers(Object.entries(trailersOf()));
    this.end = { error: findTrailerError(trailers), fields: [...trailers.keys()] };
  }

  #frame({ flags, data }: Frame): void {
    if (this.end) throw new Error('a frame behind the end');
    if (flags === endStreamFlag) {
      const { error } = endStreamFromJson(data);
      this.end = { error, fields: Object.keys(JSON.parse(data.toString())) };
    } else if (flags === trailerFlag) {
      const trailers = trailerParse(data);
      this.end = { error: findTrailerError(trailers), fields: [...trailers.keys()] };
    } else if (flags === 0) {
      const { message } = this.wire.type.endsWith('json')
        ? fromJsonString(WatchLeasesResponseSchema, data.toString())
        : fromBinary(WatchLeasesResponseSchema, data);
      this.messages.push(message);
    } else throw new Error(`a frame with flags ${flags}`);
  }
}
