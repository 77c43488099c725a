import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** What the server tells Prometheus of itself. Never a secret, never an id. */
export interface Metrics {
  readonly calls: Counter<'rpc' | 'code'>;
  readonly seconds: Histogram<'rpc'>;
  /** The body of GET /metrics. */
  render(): Promise<{ contentType: string; body: string }>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    calls: new Counter({
      name: 'holdfast_rpc_total',
      help: 'RPCs answered, by their status code.',
      labelNames: ['rpc', 'code'],
      registers: [registry],
    }),
    seconds: new Histogram({
      name: 'holdfast_rpc_seconds',
      help: 'How long RPCs took.',
      labelNames: ['rpc'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 60],
      registers: [registry],
    }),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
