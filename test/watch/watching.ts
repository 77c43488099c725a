import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Holdfast } from '@holdfast/client';
import { type Event, EventKind } from '@holdfast/proto/history';
import {
  type Lease,
  WatchEndSchema,
  type WatchGap,
  WatchGapReason,
  WatchGapSchema,
  type WatchLeasesRequest,
  type WatchLeasesResponse,
} from '@holdfast/proto/lease';

export type WatchRequest = Partial<
  Pick<
    WatchLeasesRequest,
    'project' | 'taskIds' | 'planId' | 'kinds' | 'principal' | 'executionId' | 'resumeAfter'
  >
>;

/** How a stream ended. */
export interface Ending {
  readonly code: keyof typeof Code;
  readonly text: string;
  /** The resume token of a stream that the server ended. */
  readonly resumeToken: string | undefined;
  readonly gap:
    | { readonly reason: keyof typeof WatchGapReason; readonly floor: bigint; readonly resumeToken: string }
    | undefined;
}

/** A stream that is read as fast as it comes. */
export class Watching {
  readonly messages: WatchLeasesResponse['message'][] = [];
  readonly events: Event[] = [];
  /** Of the snapshot. */
  readonly leases: Lease[] = [];
  /** Renewed ones, in the order in which they were told. */
  readonly renewed: Lease[] = [];
  /** The newest resume token. */
  token = '';
  /** How it ended, when it has. */
  ending: Ending | undefined;
  readonly #abort = new AbortController();
  readonly #reading: Promise<void>;
  #changed = () => {};

  constructor(client: Pick<Holdfast, 'leases'>, request: WatchRequest = {}) {
    this.#reading = this.#read(client.leases.watchLeases(request, { signal: this.#abort.signal }));
  }

  /** The kinds of the events so far. */
  get kinds(): string[] {
    return this.events.map(({ kind }) => EventKind[kind]);
  }

  /** Where each event so far is. */
  get positions(): number[] {
    return this.events.map(({ position }) => Number(position));
  }

  /** Waits until something holds of what came so far. */
  async until(holds: (watching: this) => boolean, ms = 10_000): Promise<this> {
    const end = performance.now() + ms;
    while (!holds(this)) {
      if (this.ending) throw new Error(`the stream ended: ${this.ending.code} ${this.ending.text}`);
      const left = end - performance.now();
      if (left <= 0)
        throw new Error(`not in time; so far: ${this.messages.map((m) => m.case)} ${this.kinds}`);
      const changed = new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      await Promise.race([changed, sleep(left, undefined, { ref: false })]);
    }
    return this;
  }

  /** Waits for the end of the snapshot, or the first message of a resumed stream. */
  begun(): Promise<this> {
    return this.until(({ token }) => token !== '');
  }

  /** Waits until the server, or a fault, has ended it. */
  async ended(): Promise<Ending> {
    await this.#reading;
    return this.ending as Ending;
  }

  /** Goes away, as a client that is no longer interested. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  async #read(stream: AsyncIterable<WatchLeasesResponse>): Promise<void> {
    try {
      for await (const { message } of stream) {
        this.messages.push(message);
        if (message.case === 'events') this.events.push(...message.value.events);
        if (message.case === 'snapshot') this.leases.push(...message.value.leases);
        if (message.case === 'leaseState') this.renewed.push(...message.value.leases);
        if (message.value && 'resumeToken' in message.value) this.token = message.value.resumeToken;
        this.#changed();
      }
      this.ending = {
        code: 'Unknown',
        text: 'it ended without an error',
        resumeToken: undefined,
        gap: undefined,
      };
    } catch (error) {
      this.ending = endingOf(error);
    }
    this.#changed();
  }
}

export function endingOf(thrown: unknown): Ending {
  const error = ConnectError.from(
    thrown instanceof ConnectError ? thrown : ((thrown as Error).cause ?? thrown),
  );
  const [end] = error.findDetails(WatchEndSchema);
  const [gap] = error.findDetails(WatchGapSchema) as (WatchGap | undefined)[];
  return {
    code: Code[error.code] as keyof typeof Code,
    text: error.rawMessage,
    resumeToken: end?.resumeToken,
    gap: gap && {
      reason: WatchGapReason[gap.reason] as keyof typeof WatchGapReason,
      floor: gap.floor,
      resumeToken: gap.resumeToken,
    },
  };
}
