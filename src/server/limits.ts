/** How much one client may ask of the server. Every field has a default; tests set some of them short. */
export interface ServerLimits {
  /** Bytes of one request message, after decompression. Larger: RESOURCE_EXHAUSTED. */
  messageBytes: number;
  /** Milliseconds: the longest deadline a unary call may carry. Longer: INVALID_ARGUMENT. Streams have none. */
  deadlineMs: number;
  /** Bytes of all headers of one request, its path included. Larger: 431, or a refused stream. */
  headerBytes: number;
  /** Milliseconds from accepting a connection until it is clear what it speaks (TLS included). */
  firstBytesMs: number;
  /** Milliseconds until the headers of an HTTP/1.1 request are complete. */
  headersMs: number;
  /** Milliseconds until a request is complete with its body. Client streams are exempt. */
  requestMs: number;
  /** Milliseconds that the reader of a stream may leave what was sent untaken before the stream is cut. */
  stalledMs: number;
  /** Open calls on one HTTP/2 connection. */
  streamsPerConnection: number;
  /** Milliseconds between pings on an HTTP/2 connection. One that leaves a ping unanswered that long is closed. */
  pingMs: number;
  /** Milliseconds a readiness check may take before it counts as failed. */
  readyMs: number;
  /** Milliseconds that `drain` waits for open calls before it cuts them. */
  drainMs: number;
}

export const DEFAULT_LIMITS: Readonly<ServerLimits> = {
  messageBytes: 1024 * 1024,
  deadlineMs: 5 * 60_000,
  headerBytes: 16 * 1024,
  firstBytesMs: 10_000,
  headersMs: 15_000,
  requestMs: 60_000,
  stalledMs: 45_000,
  streamsPerConnection: 1000,
  pingMs: 30_000,
  readyMs: 2_000,
  drainMs: 7_000,
};
