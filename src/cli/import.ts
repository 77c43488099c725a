import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { ImportAction, type ImportResult, ImportTasksResponseSchema } from '@holdfast/proto/task';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { ExitCode } from './exit.js';
import { ChecklistImport } from './import-checklist.js';
import { type ImportedPlan, plansOf } from './import-plan.js';
import type { Session } from './session.js';
import { counted, oneLine } from './text.js';

interface Options {
  plan?: string;
  as?: string;
  dryRun?: boolean;
}

export function importCommand(): Command {
  const command = remoteCommand(
    'import',
    'Turn a Markdown checklist into plans and tasks',
    'holdfast import PLAN.md --dry-run',
    'holdfast import TODO.md --plan "Odds and ends"',
  )
    .argument('<file>', 'a Markdown file with items such as - [ ] Write the parser')
    .option('--plan <title>', 'the plan of items under no heading (else named after the file)')
    .option('--as <name>', "the file's name in external keys, to tell files of one name apart")
    .option('--dry-run', 'only show what would happen');
  command.addHelpText(
    'after',
    `
Each heading with items directly under it becomes a plan, titled with the headings above it: "Guide › Setup".
Its items become the plan's steps in their order, checked ones ([x]) done. A nested item is a step after the
one it is in, titled "Outer › Inner". The lines under an item are its body. Code fences are passed over.

Import the file again after changing it: an item is known by its headings and text (its external key), so
items that are there already stay as they are, newly checked ones are completed, new ones are added. Nothing
is reopened or deleted. A file with an error is not imported at all.`,
  );
  return command.action(
    connected<Options, [string]>(async (session, options, file) => {
      const plans = readPlans(file, options);
      const dryRun = options.dryRun ?? false;
      const steps = plans.flatMap((plan) => plan.steps);
      const progress = progressLine(session, steps.length);
      const run = new ChecklistImport(session, basename(file), dryRun, progress.tell);
      const results = await run.importAll(plans).finally(progress.clear);
      const answer = create(ImportTasksResponseSchema, { results });
      session.out.result(ImportTasksResponseSchema, answer, () => {
        const titles = dryRun ? steps.map(({ title, done }, at) => lineOf(results[at], title, done)) : [];
        return [...titles, summaryOf(file, plans, results, dryRun)].join('\n');
      });
      const failed = results.filter(({ action }) => action === ImportAction.FAILED);
      for (const { line, error } of failed) session.out.note(`${file}:${line}: ${oneLine(error)}`);
      if (failed.length > 0) process.exitCode = ExitCode.REFUSED;
    }),
  );
}

function readPlans(file: string, { plan, as }: Options): ImportedPlan[] {
  const { plans, errors } = plansOf(
    readText(file),
    as ?? basename(file),
    plan ?? basename(file).replace(/\.\w+$/, ''),
  );
  if (errors.length > 0) {
    const shown = errors.slice(0, 20).map(({ line, message }) => `${file}:${line}: ${message}`);
    const rest = errors.length > shown.length ? [`… and ${errors.length - shown.length} more`] : [];
    throw new Error(['nothing was imported', ...shown, ...rest].join('\n'));
  }
  if (plans.length === 0) {
    throw new Error(`${file} has no checklist items. One looks like this: - [ ] Write the parser`);
  }
  return plans;
}

function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`there is no file ${file}`);
    if (code === 'EISDIR') throw new Error(`${file} is a folder; name the Markdown file in it`);
    throw new Error(
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? `${file} is not UTF-8 text` : `${file}: ${message}`,
    );
  }
}

function lineOf(result: ImportResult | undefined, title: string, done: boolean): string {
  const action = ImportAction[result?.action ?? 0]?.toLowerCase() ?? '';
  return `${action.padEnd(9)}  [${done ? 'x' : ' '}] ${oneLine(title)}`;
}

function summaryOf(file: string, plans: ImportedPlan[], results: ImportResult[], dryRun: boolean): string {
  const count = (action: ImportAction) => results.filter((result) => result.action === action).length;
  const failed = count(ImportAction.FAILED);
  const counts = [
    `${count(ImportAction.CREATED)} new`,
    `${count(ImportAction.UPDATED)} newly done`,
    `${count(ImportAction.UNCHANGED)} unchanged`,
    ...(failed > 0 ? [`${failed} refused`] : []),
  ];
  const what = `${counted(results.length, 'step')} in ${counted(plans.length, 'plan')}: ${counts.join(', ')}`;
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
