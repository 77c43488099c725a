import { basename } from 'node:path';
import { create } from '@bufbuild/protobuf';
import {
  ImportAction,
  type ImportResult,
  ImportResultSchema,
  ImportTasksResponseSchema,
  TaskStatus,
} from '@holdfast/proto/task';
import { type Command, Option } from 'commander';
import { connected, remoteCommand } from './command.js';
import { ExitCode } from './exit.js';
import { chunksOf } from './import/chunks.js';
import { FORMATS, type Format, readTaskFile } from './import/read-task-file.js';
import { isRefused, sendChunks } from './import/send-chunks.js';
import type { FileTask, LineError } from './import/task-file.js';
import type { Session } from './session.js';
import { counted, oneLine } from './text.js';

interface Options {
  format?: Format;
  plan?: string;
  as?: string;
  dryRun?: boolean;
  allowPartial?: boolean;
}

export function importCommand(): Command {
  const command = remoteCommand(
    'import',
    'Turn a Markdown checklist, a beads export or a task-master file into tasks',
    'holdfast import PLAN.md --dry-run',
    'holdfast import TODO.md --plan "Odds and ends"',
    'holdfast import .beads/issues.jsonl',
    'holdfast import .taskmaster/tasks/tasks.json',
  )
    .argument('<file>', 'a Markdown file with items such as - [ ] Write the parser, or one of the others')
    .addOption(new Option('--format <format>', 'what it is (else told by its content)').choices(FORMATS))
    .option('--plan <title>', 'the plan of what has no other (else of a checklist: named after the file)')
    .option('--as <name>', "the file's name in external keys, to tell files of one name apart")
    .option('--dry-run', 'only show what would happen')
    .option('--allow-partial', 'import the rest of a file with errors');
  command.addHelpText(
    'after',
    `
Import the file again after changing it: a task is known by its external key, so what is there is brought up to
date, what is newly finished is completed, and what is new is added. Nothing is reopened, deleted or moved, and no
dependency is taken away. A file with an error is not imported at all, unless asked. A long file goes in several
calls; after an interruption, import it again, and it goes on.

Markdown: each heading with items directly under it becomes a plan, titled with the headings above it: "Guide ›
Setup". Its items become the plan's steps in their order, checked ones ([x]) done. A nested item is a sub-task of
the one it is in, titled "Outer › Inner": the outer one can be claimed when all in it are done. Unchecked items in a
checked one are steps of their own. The lines under an item are its body. Code fences are passed over. An item's key
is made of file, headings and text: PLAN.md#Guide/Write.

beads (a JSON issue a line): keys bd:ID. Priorities 0 to 4 become 4 to 0, higher first. Closed issues are done, all
others open, tombstones left out. Labels stay; a type other than task is a label type:TYPE, and deferred and pinned
are labels. blocks, conditional-blocks and waits-for become dependencies, parent-child sub-tasks; other relations
are left out. --plan makes them steps of one plan.

task-master (tasks.json): keys tm:TAG/ID and tm:TAG/ID.SUB, with --as tm:NAME/TAG/ID. Each tag is a plan. Priorities
critical, high, medium, low become 4, 3, 2, 1; sub-tasks have their task's. done is done, cancelled dropped, all
others open; review and deferred are labels.

In both, sub-tasks also wait for what their parents wait for, and what a finished task still waits for is left out.`,
  );
  return command.action(
    connected<Options, [string]>(async (session, options, file) => {
      const name = options.as ?? basename(file);
      const read = readTaskFile(file, options.format, {
        name,
        named: options.as !== undefined,
        planTitle: options.plan,
      });
      const { chunks, errors } = chunksOf(read.tasks);
      const faults = [...read.errors, ...errors];
      if (faults.length > 0 && !options.allowPartial) throw nothingImported(file, faults);
      for (const note of read.notes) session.out.note(note);

      const dryRun = options.dryRun ?? false;
      const progress = progressLine(session, read.tasks.length);
      const sent = await sendChunks(session, chunks, {
        dryRun,
        allowPartial: options.allowPartial ?? false,
        updates: read.updates,
        tell: progress.tell,
      }).finally(progress.clear);
      if (isRefused(sent) && !options.allowPartial) throw nothingImported(file, errorsOf(sent));

      const results = [...sent, ...faults.map(failed)].sort((a, b) => a.line - b.line);
      const answer = create(ImportTasksResponseSchema, { results });
      session.out.result(ImportTasksResponseSchema, answer, () => {
        const tasks = new Map(read.tasks.map((task) => [task.externalKey, task]));
        const lines = dryRun ? results.map((result) => lineOf(result, tasks.get(result.externalKey))) : [];
        return [...lines, summaryOf(file, read.tasks, results, dryRun)].join('\n');
      });
      for (const { line, message } of errorsOf(results))
        session.out.note(`${file}:${line}: ${oneLine(message)}`);
      if (errorsOf(sent).length > 0) process.exitCode = ExitCode.REFUSED;
      if (faults.length > 0) process.exitCode = ExitCode.FAILED;
    }),
  );
}

const SHOWN_ERRORS = 20;

function nothingImported(file: string, errors: LineError[]): Error {
  const shown = errors.slice(0, SHOWN_ERRORS).map(({ line, message }) => `${file}:${line}: ${message}`);
  const rest = errors.length > shown.length ? [`… and ${errors.length - shown.length} more`] : [];
  return new Error(['nothing was imported', ...shown, ...rest].join('\n'));
}

function errorsOf(results: readonly ImportResult[]): LineError[] {
  return results
    .filter(({ action }) => action === ImportAction.FAILED)
    .map(({ line, error }) => ({ line, message: error }));
}

const failed = ({ line, message }: LineError) =>
  create(ImportResultSchema, { line, error: message, action: ImportAction.FAILED });

const BOXES: Partial<Record<TaskStatus, string>> = { [TaskStatus.DONE]: 'x', [TaskStatus.DROPPED]: '-' };

function lineOf({ action }: ImportResult, task: FileTask | undefined): string {
  const box = BOXES[task?.status ?? TaskStatus.OPEN] ?? ' ';
  return `${(ImportAction[action] ?? '').toLowerCase().padEnd(9)}  [${box}] ${oneLine(task?.title ?? '')}`;
}

function summaryOf(file: string, tasks: FileTask[], results: ImportResult[], dryRun: boolean): string {
  const count = (action: ImportAction) => results.filter((result) => result.action === action).length;
  const refused = count(ImportAction.FAILED);
  const counts = [
    `${count(ImportAction.CREATED)} new`,
    `${count(ImportAction.UPDATED)} updated`,
    `${count(ImportAction.UNCHANGED)} unchanged`,
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  const plans = new Set(tasks.flatMap(({ plan }) => plan || []));
  const where = plans.size > 0 ? ` in ${counted(plans.size, 'plan')}` : '';
  const what = `${counted(results.length, 'task')}${where}: ${counts.join(', ')}`;
  return dryRun ? `${file} would be imported as ${what}. Nothing was written.` : `Imported ${file}: ${what}.`;
}

/** On a terminal: how far a long import is. */
function progressLine({ out }: Session, total: number) {
  const shown = process.stderr.isTTY && !out.json && total >= 50;
  const clearLine = '\r\u001b[K';
  return {
    tell: (done: number) => {
      if (shown) process.stderr.write(`${clearLine}Importing ${done}/${total} …`);
    },
    clear: () => {
      if (shown) process.stderr.write(clearLine);
    },
  };
}
