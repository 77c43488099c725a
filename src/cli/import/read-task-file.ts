import { readFileSync } from 'node:fs';
import { readBeads } from './beads-file.js';
import { readChecklist } from './checklist-file.js';
import { parseJson } from './json-lines.js';
import type { FileTask, LineError, ReadOptions, TaskFile } from './task-file.js';
import { looksLikeTaskMaster, readTaskMaster } from './task-master-file.js';

const READERS = { markdown: readChecklist, beads: readBeads, 'task-master': readTaskMaster } as const;

export type Format = keyof typeof READERS;
export const FORMATS = Object.keys(READERS) as Format[];

/** Reads a file of tasks. Of tasks with the same key, the first stays and the others are errors. */
export function readTaskFile(file: string, format: Format | undefined, options: ReadOptions): TaskFile {
  const text = readText(file);
  const read = READERS[format ?? formatOf(text)](text, options);
  const { tasks, errors } = withoutRepeats(read.tasks);
  return { ...read, tasks, errors: [...read.errors, ...errors].sort((a, b) => a.line - b.line) };
}

/** A JSON object with lists of tasks, or an issue a line, or else Markdown. */
function formatOf(text: string): Format {
  const start = text.replace(/^\ufeff/, '').trimStart();
  if (!start.startsWith('{')) return 'markdown';
  const whole = parseJson(start);
  if ('value' in whole && looksLikeTaskMaster(whole.value)) return 'task-master';
  const first = parseJson(start.slice(0, start.search(/\r?\n|$/)));
  return 'value' in first ? 'beads' : 'task-master';
}

function withoutRepeats(tasks: readonly FileTask[]): { tasks: FileTask[]; errors: LineError[] } {
  const lineOf = new Map<string, number>();
  const errors: LineError[] = [];
  const kept = tasks.filter(({ externalKey, line }) => {
    const before = lineOf.get(externalKey);
    if (before === undefined) lineOf.set(externalKey, line);
    else errors.push({ line, message: `this is ${externalKey} again, as on line ${before}` });
    return before === undefined;
  });
  return { tasks: kept, errors };
}

function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`there is no file ${file}`);
    if (code === 'EISDIR') throw new Error(`${file} is a folder; name the file in it`);
    throw new Error(
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? `${file} is not UTF-8 text` : `${file}: ${message}`,
    );
  }
}
