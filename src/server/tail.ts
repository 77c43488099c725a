import { Code, ConnectError } from '@connectrpc/connect';
import { encodeEnvelope, type UniversalServerResponse } from '@connectrpc/connect/protocol';
import { createEndStreamSerialization, endStreamFlag } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import { endWith, type Handover } from '../rpc/tail.js';
import { cutOff, type HttpResponse } from './http.js';
import { cutUnlessClosed, isGone, ResponseSink } from './stalled.js';

/** A stream that leaves the pipeline. */
interface Leaving {
  readonly handedOver: NonNullable<Handover['taken']>;
  readonly ends: Handover['ends'];
  readonly res: HttpResponse;
  /** Aborted when the caller is gone, and when the server stops. */
  readonly signals: readonly AbortSignal[];
  /** Milliseconds that the reader may leave what was sent untaken. */
  readonly stalledMs: number;
}

/**
 * Sends the headers and the first message as the pipeline made them, lets the pipeline go, and leaves the rest to the
 * stream's tail. Nothing that lives as long as the stream refers to the pipeline.
 */
export function leavePipeline(response: UniversalServerResponse, leaving: Leaving): void {
  const sink = new ResponseSink(leaving.res, leaving.stalledMs);
  const contentType = response.header?.get('content-type') ?? '';
  sendRest(leaving, sink, contentType, sendFirst(response, leaving.res, sink));
}

async function sendFirst(
  { status, header, body }: UniversalServerResponse,
  res: HttpResponse,
  sink: ResponseSink,
): Promise<void> {
  const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const { value: first } = await pieces.next();
  if (!isGone(res)) res.writeHead(status, Object.fromEntries(header ?? []));
  const taken = sink.write(first);
  await pieces.return?.();
  await taken;
}

function sendRest(
  { handedOver: { tail, leftMs }, ends, res, signals, stalledMs }: Leaving,
  sink: ResponseSink,
  contentType: string,
  firstSent: Promise<void>,
): void {
  const onAbort = ({ target }: Event) => tail.callOff((target as AbortSignal).reason);
  for (const signal of signals) {
    if (signal.aborted) tail.callOff(signal.reason);
    signal.addEventListener('abort', onAbort);
  }
  const onDeadline = () => tail.callOff(new ConnectError('the operation timed out', Code.DeadlineExceeded));
  const deadline = leftMs === undefined ? undefined : setTimeout(onDeadline, leftMs);
  firstSent
    .then(() => tail.tell(sink))
    .catch((thrown) => {
      clearTimeout(deadline);
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
      // If already the first message could not be sent, it has not begun to tell.
      tail.callOff(thrown);
      const told = endWith(thrown, ends);
      if (isGone(res)) return;
      cutUnlessClosed(res, stalledMs);
      sendEnd(res, contentType, told);
    })
    // Nobody waits for this: a response that cannot even be ended is broken off.
    .catch(() => cutOff(res));
}

/** Ends a response with an error, as its protocol has it behind messages. */
function sendEnd(res: HttpResponse, contentType: string, told: unknown): void {
  const error = told instanceof ConnectError ? told : new ConnectError('internal error', Code.Internal);
  if (!contentType.startsWith('application/grpc')) {
    const end = createEndStreamSerialization(undefined).serialize({ metadata: new Headers(), error });
    res.end(encodeEnvelope(endStreamFlag, end));
    return;
  }
  const trailers = setTrailerStatus(new Headers(), error);
  if (contentType.startsWith('application/grpc-web')) {
    res.end(encodeEnvelope(trailerFlag, trailerSerialize(trailers)));
  } else {
    res.addTrailers(Object.fromEntries(trailers));
    res.end();
  }
}
