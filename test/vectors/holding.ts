import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { type HeldLease, type Holdfast, type Wanted, withLease } from '@holdfast/client';
import { ContinuationSchema, LeaseSchema } from '@holdfast/proto/lease';
import {
  AddNoteResponseSchema,
  CompleteTaskResponseSchema,
  DropTaskResponseSchema,
  TaskSchema,
  UpdateTaskRequestSchema,
  UpdateTaskResponseSchema,
} from '@holdfast/proto/task';
import type { Json } from './matching.js';
import { jsonOf, WorkFailed } from './told.js';

/** A lease that is held from one step of a scenario to another. */
export class Holding {
  readonly #sent: Promise<void>;
  readonly #begun: Promise<HeldLease>;
  readonly #over: Promise<void>;
  #renewals = 0;
  #renewed = () => {};
  #leave: (throwing?: string) => void = () => {};

  constructor(
    holdfast: Holdfast,
    wanted: Record<string, Json>,
    { ttlMs, waitMs }: { ttlMs?: number; waitMs?: number },
  ) {
    const left = new Promise<void>((resolve, reject) => {
      this.#leave = (throwing) => (throwing === undefined ? resolve() : reject(new WorkFailed(throwing)));
    });
    let begin: (held: HeldLease) => void = () => {};
    const begun = new Promise<HeldLease>((resolve) => {
      begin = resolve;
    });
    this.#over = withLease(
      holdfast,
      wanted as Wanted,
      (held) => {
        begin(held);
        return left;
      },
      {
        ...(ttlMs === undefined ? {} : { ttlMs }),
        ...(waitMs === undefined ? {} : { waitMs }),
        onRenewed: () => {
          this.#renewals += 1;
          this.#renewed();
        },
      },
    );
    this.#begun = Promise.race([begun, this.#over.then(() => begun)]);
    this.#begun.catch(() => {});
    // Its first request leaves in this very turn, or after the connection was made.
    this.#sent = new Promise((resolve) => setTimeout(resolve, 200));
  }

  sent(): Promise<void> {
    return this.#sent;
  }

  async begun(): Promise<Json> {
    const { lease, task, continuation } = await this.#begun;
    return {
      lease: jsonOf(LeaseSchema, lease),
      task: jsonOf(TaskSchema, task),
      continuation: continuation ? jsonOf(ContinuationSchema, continuation) : null,
    };
  }

  async write(write: string, request: Record<string, Json>): Promise<Json> {
    const held = await this.#begun;
    const { text = '', result = '', reason = '' } = request as Record<string, string>;
    switch (write) {
      case 'addNote':
        return jsonOf(AddNoteResponseSchema, await held.addNote(text));
      case 'complete':
        return jsonOf(CompleteTaskResponseSchema, await held.complete(result));
      case 'drop':
        return jsonOf(DropTaskResponseSchema, await held.drop(reason));
      case 'update': {
        const { $typeName, taskId, ...change } = fromJson(UpdateTaskRequestSchema, request as JsonObject);
        return jsonOf(UpdateTaskResponseSchema, await held.update(change));
      }
      default:
        throw new Error(`the runner does not know the write ${write}`);
    }
  }

  async renewed(times: number): Promise<void> {
    const enough = this.#renewals + times;
    while (this.#renewals < enough) {
      await new Promise<void>((resolve) => {
        this.#renewed = resolve;
      });
    }
  }

  /** @returns why the work must stop */
  async stopped(): Promise<unknown> {
    const { signal } = await this.#begun;
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return signal.reason;
  }

  async leave(throwing?: string, releaseNote?: string): Promise<void> {
    if (releaseNote !== undefined) (await this.#begun).releaseNote = releaseNote;
    this.#leave(throwing);
    await this.#over;
  }
}
