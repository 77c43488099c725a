import { create, toBinary } from '@bufbuild/protobuf';
import { ImportedTaskSchema } from '@holdfast/proto/task';
import type { FileTask, LineError } from './task-file.js';
import { groupsInOrder } from './task-graph.js';

/** What one call carries: more would hold its locks for long. */
const CALL_TASKS = 500;
/** What the server takes in one call. */
const MOST_TASKS = 1_000;
const MOST_EDGES = 10_000;
/** The server takes messages of 1 MiB; JSON and the envelope want room. */
const MOST_BYTES = 900_000;

/** The tasks of one call. */
export interface Chunk {
  tasks: FileTask[];
  /** The keys that its tasks name and earlier chunks bring. */
  assumedKeys: string[];
}

interface Pack {
  readonly tasks: FileTask[];
  edges: number;
  bytes: number;
}

/** Puts tasks into calls: each task with its sub-tasks, and after those that it waits for. */
export function chunksOf(tasks: readonly FileTask[]): { chunks: Chunk[]; errors: LineError[] } {
  const errors: LineError[] = [];
  const packs: Pack[] = [];
  for (const group of groupsInOrder(tasks)) {
    const bytes = group.reduce((sum, task) => sum + sizeOf(task), 0);
    const edges = group.reduce((sum, { blockedBy, parent }) => sum + blockedBy.length + (parent ? 1 : 0), 0);
    if (group.length > MOST_TASKS || edges > MOST_EDGES || bytes > MOST_BYTES) {
      const message = `this and what hangs together with it are ${group.length} tasks with ${edges} dependencies in ${bytes} bytes; a call takes ${MOST_TASKS} with ${MOST_EDGES} in ${MOST_BYTES}`;
      errors.push({ line: group[0]?.line ?? 1, message });
      continue;
    }
    const last = packs.at(-1);
    const fits =
      last &&
      last.tasks.length + group.length <= CALL_TASKS &&
      last.edges + edges <= MOST_EDGES &&
      last.bytes + bytes <= MOST_BYTES;
    if (fits) {
      last.tasks.push(...group);
      last.edges += edges;
      last.bytes += bytes;
    } else packs.push({ tasks: [...group], edges, bytes });
  }
  const brought = new Set<string>();
  const chunks = packs.map((pack): Chunk => {
    const named = pack.tasks.flatMap(({ blockedBy, parent }) => [...blockedBy, parent]);
    const assumedKeys = [...new Set(named)].filter((key) => brought.has(key));
    for (const { externalKey } of pack.tasks) brought.add(externalKey);
    // As they stand in the file: that is their order in plans.
    return { tasks: pack.tasks.sort((a, b) => a.line - b.line), assumedKeys };
  });
  return { chunks, errors };
}

const sizeOf = (task: FileTask) => toBinary(ImportedTaskSchema, create(ImportedTaskSchema, task)).length + 16;
