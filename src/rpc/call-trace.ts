import { createContextKey } from '@connectrpc/connect';

/** What finds a call's log lines again, as the log's fields. */
export interface CallTrace {
  /** Of the trace that the call is part of. */
  readonly trace_id?: string;
  /** As its caller chose it. */
  readonly request_id?: string;
}

/** Put there by the trace interceptor. */
export const traceKey = createContextKey<CallTrace>({}, { description: 'what finds its log lines' });
