import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { type CallOptions, type Client, createContextValues } from '@connectrpc/connect';
import { type Proof, ProofSchema } from '@holdfast/proto/guard';
import type { Continuation, Grant } from '@holdfast/proto/lease';
import {
  type AddNoteResponse,
  type CompleteTaskResponse,
  type DropTaskResponse,
  type Task,
  TaskService,
  type UpdateTaskRequestSchema,
  type UpdateTaskResponse,
} from '@holdfast/proto/task';
import { LeaseLost, LockRequired, WriteRejected } from './errors.js';
import type { Holdfast } from './holdfast.js';
import type { RenewedLease } from './keep-renewed.js';
import { attemptsKey } from './retry.js';

/** What of a task can be changed. */
export type TaskChange = Pick<
  MessageInitShape<typeof UpdateTaskRequestSchema>,
  'title' | 'body' | 'priority' | 'labels' | 'assignee' | 'updateMask' | 'etag'
>;

/**
 * A lease while the work under it runs.
 *
 * Its writes carry the proof. Before each it is checked that the lease is safe, and a write throws {@link LeaseLost}
 * instead of being sent when it is not. What gets no answer is sent again, where that is safe, for as long as the lease is.
 */
export interface HeldLease extends Pick<RenewedLease, 'lease' | 'signal' | 'throwIfUnsafe'> {
  /** The task as it was when the lease was granted. */
  readonly task: Task;
  /** What earlier holders left. */
  readonly continuation: Continuation | undefined;
  /** For writes that are not made through this object. */
  readonly proof: Proof;
  /** The TaskService, whose writes of this task carry project, execution and proof. */
  readonly tasks: Client<typeof TaskService>;
  /** Whether a write made through this object has ended the lease, by completing, dropping or deleting the task. */
  readonly closed: boolean;
  /** A note for the next holder, left when the lease is released. */
  releaseNote: string;
  /** Marks the task DONE, which ends the lease. `result` is at most 64 KiB. */
  complete(result?: string): Promise<CompleteTaskResponse>;
  /** Marks the task DROPPED, which ends the lease: it will not be done. */
  drop(reason?: string): Promise<DropTaskResponse>;
  /** Leaves a note for whoever works on the task next, 1 byte to 64 KiB. */
  addNote(text: string): Promise<AddNoteResponse>;
  /** Changes what is given, and nothing else. */
  update(change: TaskChange): Promise<UpdateTaskResponse>;
}

/** A held lease, as its keeper has it. */
export interface Holding {
  readonly held: HeldLease;
  /** From now on writes throw: the work is over. */
  end(): void;
}

/** All attempts of one write together. In ms; the server takes no longer deadline. */
const WRITE_MS = 300_000;

const CLOSING: ReadonlySet<string> = new Set(['completeTask', 'dropTask', 'deleteTask']);

/** Makes the writes of a renewed lease. */
export function holdLease(
  holdfast: Holdfast,
  renewing: RenewedLease,
  { task, continuation }: Grant & { task: Task },
  project: string,
): Holding {
  const { taskId, id: leaseId, fencingToken, holder } = renewing.lease;
  const { signal } = renewing;
  const proof = create(ProofSchema, { leaseId, fencingToken });
  const own = { project, taskId, executionId: holder?.executionId ?? holdfast.executionId };
  let closed = false;
  let ended = false;

  function throwIfUnsafe(): void {
    renewing.throwIfUnsafe();
    if (closed || ended) throw new LeaseLost('released', taskId);
  }

  async function call(method: DescMethodUnary, request: object, options: CallOptions = {}): Promise<unknown> {
    const send = (holdfast.tasks as unknown as Record<string, Send>)[method.localName] as Send;
    const { message, guarded } = withOwn(method, request);
    if (!guarded) return send(message, options);
    throwIfUnsafe();
    const contextValues = options.contextValues ?? createContextValues();
    if (contextValues.get(attemptsKey) === undefined)
      contextValues.set(attemptsKey, Number.POSITIVE_INFINITY);
    const closing = CLOSING.has(method.localName);
    // A renewal that arrives after the end would take the lease for lost.
    const goOn = closing ? renewing.pause() : () => {};
    try {
      const answer = await send(message, {
        timeoutMs: WRITE_MS,
        ...options,
        contextValues,
        signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal,
      });
      if (closing) {
        closed = true;
        renewing.stop();
      }
      return answer;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (tellsOfLoss(error)) renewing.lose(new LeaseLost('lost', taskId, error));
      throw error;
    } finally {
      goOn();
    }
  }

  /** The request with what it leaves out, and whether it writes the held task. */
  function withOwn(method: DescMethodUnary, request: object): { message: object; guarded: boolean } {
    const given: Request = create(method.input, request as MessageInitShape<DescMessage>);
    const message: Request = Object.assign(Object.create(Object.getPrototypeOf(given)), given);
    message.project ||= project;
    if (method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
      return { message, guarded: false };
    if (message.executionId === '') message.executionId = own.executionId;
    const written = method.input.field.parentId ? message.parentId : message.taskId;
    const guarded = method.input.field.proof !== undefined && written === taskId;
    if (guarded) message.proof ??= proof;
    return { message, guarded };
  }

  const tasks = Object.fromEntries(
    TaskService.methods.map((method) => [
      method.localName,
      (request: object, options?: CallOptions) => call(method as DescMethodUnary, request, options),
    ]),
  ) as unknown as Client<typeof TaskService>;

  const held: HeldLease = {
    get lease() {
      return renewing.lease;
    },
    signal,
    throwIfUnsafe,
    task,
    continuation,
    proof,
    tasks,
    get closed() {
      return closed;
    },
    releaseNote: '',
    complete: (result = '') => tasks.completeTask({ taskId, result }),
    drop: (reason = '') => tasks.dropTask({ taskId, reason }),
    addNote: (text) => tasks.addNote({ taskId, text }),
    update: (change) => tasks.updateTask({ ...change, taskId }),
  };
  return {
    held,
    end() {
      ended = true;
    },
  };
}

type Send = (request: object, options: CallOptions) => Promise<unknown>;

/** What a request of the TaskService may have. */
interface Request extends Message {
  project?: string;
  executionId?: string;
  taskId?: string;
  parentId?: string;
  proof?: object;
}

/** A write that lacks its proof tells nothing of the lease. */
function tellsOfLoss(error: unknown): boolean {
  return error instanceof WriteRejected && !(error instanceof LockRequired);
}
