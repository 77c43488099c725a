import type { LeaseState } from '@holdfast/proto/guard';
import type { Command } from 'commander';
import { addLeaseOptions, givenProof, type LeaseOptions, ownProof } from './own-lease.js';
import { taskId } from './references.js';
import type { Session } from './session.js';

/** The options of a write that the guard looks at. */
export interface GuardedOptions extends LeaseOptions {
  overrideReason?: string;
}

/** Adds the options of a write that the guard looks at. */
export function addGuardedOptions(command: Command): Command {
  return addLeaseOptions(command).option(
    '--override-reason <text>',
    "as an admin: write against the guard's verdict, and why",
  );
}

/** The fields that every guarded write carries: which task, who writes, and the proof of its lease if it has one. */
export async function guardedWrite(
  session: Session,
  reference: string,
  options: GuardedOptions,
  also?: LeaseState,
) {
  const given = givenProof(options);
  const id = await taskId(session, reference);
  const executionId = await session.writer();
  const proof = given ?? (await ownProof(session, id, also));
  return {
    project: session.project,
    taskId: id,
    executionId,
    overrideReason: options.overrideReason ?? '',
    ...(proof ? { proof } : {}),
  };
}
