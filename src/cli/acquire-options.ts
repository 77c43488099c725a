import type { AcquireOptions, Wanted } from '@holdfast/client';
import type { Command } from 'commander';
import { asGiven, each, milliseconds } from './arguments.js';
import { UsageError } from './exit.js';
import { planId, taskId } from './references.js';
import type { Session } from './session.js';

/** The options that say which task is wanted, and for how long. */
export interface WantedOptions {
  ttl?: number;
  wait?: number;
  plan?: string;
  label?: string[];
  assignee?: string;
}

/** Adds the operand and the options that say which task is wanted, and for how long. */
export function addWantedOptions(command: Command): Command {
  return command
    .argument('[task]', 'its id, or key: and the external key; without it: the best ready one')
    .option('--ttl <time>', 'how long the lease lives without renewal, such as 90s or 15m', milliseconds)
    .option('--wait <time>', 'how long to wait for it', milliseconds)
    .option('--plan <plan>', 'without a task: only steps of this plan')
    .option('--label <label>', 'without a task: only with this label; may be given again', each(asGiven))
    .option('--assignee <principal>', 'without a task: only meant for this principal');
}

/** What is wanted, as the client takes it. Throws a UsageError when a task is named and filtered, too. */
export async function wanted(
  session: Session,
  reference: string | undefined,
  options: WantedOptions,
): Promise<Wanted> {
  const { plan, label, assignee } = options;
  if (reference === undefined) return { next: await queueFilter(session, options) };
  if (plan || label || assignee)
    throw new UsageError('--plan, --label and --assignee choose a task; name none then');
  return { taskId: await taskId(session, reference) };
}

/** Which ready tasks are wanted, as the client takes it. */
export async function queueFilter(
  session: Session,
  { plan, label, assignee }: Pick<WantedOptions, 'plan' | 'label' | 'assignee'>,
): Promise<{ planId: string; labels: string[]; assignee: string }> {
  return { planId: await planId(session, plan), labels: label ?? [], assignee: assignee ?? '' };
}

/** How to ask for it. */
export function acquireOptions({ project }: Session, { ttl, wait }: WantedOptions): AcquireOptions {
  return {
    project,
    ...(ttl === undefined ? {} : { ttlMs: ttl }),
    ...(wait === undefined ? {} : { waitMs: wait }),
  };
}
