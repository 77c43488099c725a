import type { Session } from './session.js';

const KEY = 'key:';

/** How a task or plan may be named, for `--help`. */
export const byIdOrKey = 'its id, or key: and the external key (key:PLAN.md#Setup/Install)';

/** The id of the task that `reference` names. Asks the server only for a `key:`. */
export async function taskId({ holdfast, project }: Session, reference: string): Promise<string> {
  if (!reference.startsWith(KEY)) return reference;
  const { task } = await holdfast.tasks.getTask({ project, ...selector('taskId', reference) });
  return task?.id ?? '';
}

/** The ids of the tasks that `references` name. */
export async function taskIds(session: Session, references: string[] = []): Promise<string[]> {
  return Promise.all(references.map((reference) => taskId(session, reference)));
}

/** The id of the plan that `reference` names; empty without one. Asks the server only for a `key:`. */
export async function planId({ holdfast, project }: Session, reference: string | undefined): Promise<string> {
  if (!reference?.startsWith(KEY)) return reference ?? '';
  const { plan } = await holdfast.tasks.getPlan({ project, pageSize: 1, ...selector('planId', reference) });
  return plan?.id ?? '';
}

/** The request fields that find what `reference` names: its id under `idField`, or its `externalKey`. */
export function selector<Field extends string>(
  idField: Field,
  reference: string,
): { [Key in Field]?: string } & { externalKey?: string } {
  const byKey = reference.startsWith(KEY);
  const field = byKey ? 'externalKey' : idField;
  return { [field]: byKey ? reference.slice(KEY.length) : reference } as ReturnType<typeof selector<Field>>;
}
