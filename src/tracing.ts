import { setTimeout as sleep } from 'node:timers/promises';
import type { Tracer } from '@opentelemetry/api';

/** Where spans go. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left, as far as the receiver takes it in time. May be called twice. */
  stop(): Promise<void>;
}

export interface TracingOptions {
  /** The receiver's base URL, such as http://localhost:4318. */
  readonly endpoint: string;
  /** Of the traces that begin here, 0 to 1; a caller's trace is told if its caller tells it. */
  readonly share: number;
}

/** How long the last spans may take to be sent, in milliseconds. */
const FLUSH_MS = 2_000;

/**
 * Sends spans to an OTLP/HTTP receiver. The SDK is loaded only here: who does not trace does not pay for it. A
 * receiver's headers are taken from OTEL_EXPORTER_OTLP_HEADERS, the service's name from OTEL_SERVICE_NAME.
 */
export async function startTracing({ endpoint, share }: TracingOptions): Promise<Tracing> {
  const [{ OTLPTraceExporter }, { resourceFromAttributes }, sdk] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: FLUSH_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME ?? 'holdfast' }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  let stopped: Promise<void> | undefined;
  return {
    tracer: provider.getTracer('holdfast'),
    stop: () => {
      // A receiver that is away costs the last spans, and nothing else.
      stopped ??= Promise.race([
        provider.shutdown().catch(() => {}),
        sleep(FLUSH_MS, undefined, { ref: false }),
      ]);
      return stopped;
    },
  };
}
