import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What the server tells Prometheus of itself. Never a secret, never an id. */
export interface Metrics {
  readonly calls: Counter<'rpc' | 'code'>;
  readonly seconds: Histogram<'rpc'>;
  readonly watches: Gauge;
  readonly watchEvents: Counter;
  readonly watchLag: Histogram;
  readonly webhookAttempts: Counter<'result'>;
  /** The body of GET /metrics. */
  render(): Promise<{ contentType: string; body: string }>;
}

export interface MetricsSources {
  /** For how many seconds the oldest event has been waiting for its position; 0: none waits. */
  readonly sequencerLag?: () => Promise<number>;
  /** How many webhook deliveries wait, of the whole database. */
  readonly outboxDepth?: () => Promise<number>;
}

export function createMetrics({ sequencerLag, outboxDepth }: MetricsSources = {}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const asked = (name: string, help: string, ask: (() => Promise<number>) | undefined) => {
    if (!ask) return;
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        // Not known while the database is away; the other metrics are told all the same.
        this.set(await ask().catch(() => Number.NaN));
      },
    });
  };
  asked(
    'holdfast_sequencer_lag_seconds',
    'For how long the oldest event that has no position yet has been waiting for it.',
    sequencerLag,
  );
  asked('holdfast_webhook_outbox', 'Webhook deliveries that wait, of the whole database.', outboxDepth);
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
    watches: new Gauge({
      name: 'holdfast_watches',
      help: 'Open WatchLeases streams.',
      registers: [registry],
    }),
    watchEvents: new Counter({
      name: 'holdfast_watch_events_total',
      help: 'Events handed to WatchLeases streams, counted for each stream.',
      registers: [registry],
    }),
    watchLag: new Histogram({
      name: 'holdfast_watch_lag_seconds',
      help: 'From the moment an event happened until it was handed to a stream that keeps up.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    webhookAttempts: new Counter({
      name: 'holdfast_webhook_attempts_total',
      help: 'Attempts to deliver to a webhook, by what came of them.',
      labelNames: ['result'],
      registers: [registry],
    }),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
