import { Code, ConnectError } from '@connectrpc/connect';
import type { Holdfast } from '@holdfast/client';
import type { Task } from '@holdfast/proto/task';
import type { Board } from './board.js';

/** Reads at once, so that a burst of events does not become a burst of calls. */
const AT_ONCE = 4;
/** When more than this are wanted, all tasks are listed instead: a thousand come with one call. */
const MOST_SINGLY = 100;
/** What could not be read is tried again after this. In ms. */
const AGAIN_MS = 2_000;
/** Of this many tasks it is kept when they were touched. */
const MOST_TOUCHED = 10_000;

/** Reads tasks into the board, and never lets an answer that is older than an event overwrite it. */
export class TaskReader {
  readonly #holdfast: Holdfast;
  readonly #project: string;
  readonly #board: Board;
  readonly #changed: () => void;
  readonly #listAll: () => Promise<void>;
  readonly #wanted = new Set<string>();
  /** When a task was last touched by an event, counted in events. */
  readonly #touched = new Map<string, number>();
  /** Tasks that are not in there were touched then at the latest. */
  #forgotten = 0;
  #count = 0;
  #reading = 0;
  #listing = false;
  #stopped = false;

  /** @param listAll reads all tasks, with {@link take} */
  constructor(
    holdfast: Holdfast,
    project: string,
    board: Board,
    changed: () => void,
    listAll: () => Promise<void>,
  ) {
    this.#holdfast = holdfast;
    this.#project = project;
    this.#board = board;
    this.#changed = changed;
    this.#listAll = listAll;
  }

  stop(): void {
    this.#stopped = true;
    this.#wanted.clear();
  }

  /** An event told something of the task. */
  touch(taskId: string): void {
    this.#count += 1;
    if (!taskId) return;
    // Anew at the end: the first is the one that was left alone for longest.
    this.#touched.delete(taskId);
    this.#touched.set(taskId, this.#count);
    const [oldest] = this.#touched;
    if (this.#touched.size <= MOST_TOUCHED || !oldest) return;
    this.#touched.delete(oldest[0]);
    this.#forgotten = oldest[1];
  }

  /** To be taken before a call is sent, for {@link take}. */
  mark(): number {
    return this.#count;
  }

  /** Takes in a task from an answer; one that events touched since is read again. */
  take(task: Task, since: number): void {
    const stale = this.#touchedSince(task.id, since);
    if (!stale || !this.#board.tasks.has(task.id)) this.#board.tasks.set(task.id, task);
    if (stale) this.read(task.id);
  }

  /** Reads a task soon. */
  read(taskId: string): void {
    if (this.#stopped) return;
    this.#wanted.add(taskId);
    void this.#readNext();
  }

  #touchedSince(taskId: string, mark: number): boolean {
    return (this.#touched.get(taskId) ?? this.#forgotten) > mark;
  }

  async #readNext(): Promise<void> {
    if (this.#stopped || this.#listing || this.#reading >= AT_ONCE) return;
    if (this.#wanted.size > MOST_SINGLY) return this.#readAll();
    const [taskId] = this.#wanted;
    if (taskId === undefined) return;
    this.#wanted.delete(taskId);
    this.#reading += 1;
    try {
      const since = this.mark();
      const { task, notes } = await this.#holdfast.tasks.getTask({ project: this.#project, taskId });
      if (task) this.take(task, since);
      const [note] = notes;
      if (!this.#touchedSince(taskId, since)) {
        this.#board.setNote(
          taskId,
          note ? { text: note.text, author: note.author, at: note.createdAt } : null,
        );
      }
    } catch (error) {
      if (error instanceof ConnectError && error.code === Code.NotFound) this.#board.tasks.delete(taskId);
      else setTimeout(() => this.read(taskId), AGAIN_MS);
    } finally {
      this.#reading -= 1;
      this.#changed();
      void this.#readNext();
    }
  }

  async #readAll(): Promise<void> {
    this.#listing = true;
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    try {
      await this.#listAll();
    } catch {
      for (const taskId of wanted) this.#wanted.add(taskId);
    }
    // Whatever was wanted meanwhile is gathered before all is listed once more.
    setTimeout(() => {
      this.#listing = false;
      void this.#readNext();
    }, AGAIN_MS);
  }
}
