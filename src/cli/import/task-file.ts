import { TaskStatus } from '@holdfast/proto/task';

/** What is wrong with a line of a file. */
export interface LineError {
  /** From 1. */
  line: number;
  message: string;
}

/** A task as a file tells it. Tasks are named by their external keys. */
export interface FileTask {
  line: number;
  externalKey: string;
  title: string;
  body: string;
  status: TaskStatus;
  /** Higher first. */
  priority: number;
  labels: string[];
  blockedBy: string[];
  parent: string;
  plan: string;
  planTitle: string;
  result: string;
  assignee: string;
}

/** What a file holds. */
export interface TaskFile {
  tasks: FileTask[];
  errors: LineError[];
  /** What is not carried over as it stands, for people. */
  notes: string[];
  /** What to bring up to date on tasks that are there: what the format knows of. */
  updates: string[];
}

/** How a file is read. */
export interface ReadOptions {
  /** The file's name in external keys. */
  name: string;
  /** Whether that name was asked for. */
  named: boolean;
  /** The title of the plan for tasks that have no other. */
  planTitle: string | undefined;
}

/** A task of which only this is known. */
export function fileTask(task: Partial<FileTask> & Pick<FileTask, 'line' | 'externalKey'>): FileTask {
  return {
    title: '',
    body: '',
    status: TaskStatus.OPEN,
    priority: 0,
    labels: [],
    blockedBy: [],
    parent: '',
    plan: '',
    planTitle: '',
    result: '',
    assignee: '',
    ...task,
  };
}

/** Texts with headings, those that are empty left out. */
export function sections(...parts: [heading: string, text: unknown][]): string {
  return parts
    .filter((part): part is [string, string] => typeof part[1] === 'string' && part[1].trim() !== '')
    .map(([heading, text]) => (heading ? `## ${heading}\n\n${text.trim()}` : text.trim()))
    .join('\n\n');
}

export const isFinished = ({ status }: FileTask) => status !== TaskStatus.OPEN;
