import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { EventDraft } from './domain/event.js';

/** What the server tells Prometheus of itself. Never a secret, never an id. */
export interface Metrics {
  readonly calls: Counter<'rpc' | 'code'>;
  readonly seconds: Histogram<'rpc'>;
  readonly refusals: Counter<'reason'>;
  readonly claimSeconds: Histogram;
  readonly watches: Gauge;
  readonly watchEvents: Counter;
  readonly watchLag: Histogram;
  readonly webhookAttempts: Counter<'result'>;
  /** Counts what an event tells, in the process that wrote it: among all processes, once. */
  happened(event: EventDraft): void;
  /** The body of GET /metrics. */
  render(): Promise<{ contentType: string; body: string }>;
}

/** What is asked at each scrape, of the whole database. */
export interface MetricsSources {
  /** For how many seconds the oldest event has been waiting for its position; 0: none waits. */
  readonly sequencerLag?: () => Promise<number>;
  /** How many webhook deliveries wait. */
  readonly outboxDepth?: () => Promise<number>;
  /** How many leases are live. */
  readonly liveLeases?: () => Promise<number>;
  /** How many unfinished tasks there are, by how they stand. */
  readonly tasks?: () => Promise<Readonly<Record<string, number>>>;
  /** How many connections there are, by their state. */
  readonly connections?: () => Promise<Readonly<Record<string, number>>>;
  /** How many seconds a statement takes that does nothing: mostly waiting for a connection of the pool. */
  readonly databaseSeconds?: () => Promise<number>;
}

const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 60];

export function createMetrics(sources: MetricsSources = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  askAtScrape(registry, sources);
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });

  const grants = counter('holdfast_grants_total', 'Leases granted, takeovers included.');
  const takeovers = counter(
    'holdfast_takeovers_total',
    'Leases granted on a task whose lease before expired or was revoked.',
  );
  const expiries = counter('holdfast_expiries_total', 'Leases that ran past their deadline.');
  const revocations = counter('holdfast_revocations_total', 'Leases that were taken away.');
  const quarantines = counter(
    'holdfast_quarantines_total',
    'Tasks put into quarantine, since too many of their leases expired in a row.',
  );
  const faultyWrites = counter(
    'holdfast_faulty_writes_total',
    'Writes that the guard found fault with, by its verdict and by what was done with them. Stale writes are those with STALE_LOCK.',
    ['verdict', 'outcome'],
  );

  return {
    happened(event) {
      switch (event.kind) {
        case 'LEASE_TAKEN_OVER':
          takeovers.inc();
          grants.inc();
          break;
        case 'LEASE_ACQUIRED':
          grants.inc();
          break;
        case 'LEASE_EXPIRED':
          expiries.inc();
          break;
        case 'LEASE_REVOKED':
          revocations.inc();
          break;
        case 'TASK_QUARANTINED':
          quarantines.inc();
          break;
        case 'WRITE_WARNED':
        case 'WRITE_REJECTED':
        case 'WRITE_OVERRIDDEN':
          faultyWrites.inc({
            verdict: event.payload.code,
            outcome: event.kind.slice('WRITE_'.length).toLowerCase(),
          });
      }
    },
    calls: counter('holdfast_rpc_total', 'RPCs answered, by their status code.', ['rpc', 'code']),
    seconds: new Histogram({
      name: 'holdfast_rpc_seconds',
      help: 'How long RPCs took.',
      labelNames: ['rpc'],
      buckets: QUICK,
      registers,
    }),
    refusals: counter('holdfast_refusals_total', 'Acquires that were refused, by the reason told.', [
      'reason',
    ]),
    claimSeconds: new Histogram({
      name: 'holdfast_claim_seconds',
      help: 'How long it took to grant a lease to a call that did not ask to wait.',
      buckets: QUICK,
      registers,
    }),
    watches: new Gauge({ name: 'holdfast_watches', help: 'Open WatchLeases streams.', registers }),
    watchEvents: counter(
      'holdfast_watch_events_total',
      'Events handed to WatchLeases streams, counted for each stream.',
    ),
    watchLag: new Histogram({
      name: 'holdfast_watch_lag_seconds',
      help: 'From the moment an event happened until it was handed to a stream that keeps up.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    webhookAttempts: counter(
      'holdfast_webhook_attempts_total',
      'Attempts to deliver to a webhook, by what came of them.',
      ['result'],
    ),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function askAtScrape(registry: Registry, sources: MetricsSources): void {
  const registers = [registry];
  // What is not known while the database is away is not a number; the other metrics are told all the same.
  const number = (name: string, help: string, ask: (() => Promise<number>) | undefined) => {
    if (!ask) return;
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await ask().catch(() => Number.NaN));
      },
    });
  };
  const numbers = (
    name: string,
    help: string,
    label: string,
    ask: (() => Promise<Readonly<Record<string, number>>>) | undefined,
  ) => {
    if (!ask) return;
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        this.reset();
        const counted = await ask().catch(() => ({}));
        for (const [value, count] of Object.entries(counted)) this.set({ [label]: value }, count);
      },
    });
  };
  number(
    'holdfast_sequencer_lag_seconds',
    'For how long the oldest event that has no position yet has been waiting for it.',
    sources.sequencerLag,
  );
  number(
    'holdfast_webhook_outbox',
    'Webhook deliveries that wait, of the whole database.',
    sources.outboxDepth,
  );
  number(
    'holdfast_live_leases',
    'Live leases, of the whole database; counted up to 100,000.',
    sources.liveLeases,
  );
  numbers(
    'holdfast_tasks',
    'Unfinished tasks of the whole database by standing: ready, blocked, leased, quarantined; counted up to 100,000 a project.',
    'standing',
    sources.tasks,
  );
  numbers(
    'holdfast_database_connections',
    'Connections of all Holdfast processes to the database, by state: active, idle, other.',
    'state',
    sources.connections,
  );
  number(
    'holdfast_database_seconds',
    'How long a statement took that does nothing: it grows when the pool is too small or the database too busy.',
    sources.databaseSeconds,
  );
}
