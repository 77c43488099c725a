import {
  type Failure,
  fail,
  type Model,
  type ModelEvent,
  type ModelTask,
  type Proof,
  type Who,
} from './model.js';

/** A guarded write, as the model does it. */
export interface Write {
  readonly rpc: 'UpdateTask' | 'AddNote' | 'CompleteTask' | 'DropTask' | 'ReopenTask' | 'DeleteTask';
  /** The title, note, result or reason. */
  readonly text: string;
}

/** Undefined: done. */
export function write(
  model: Model,
  task: ModelTask,
  who: Who,
  proof: Proof | undefined,
  override: string,
  { rpc, text }: Write,
): Failure | undefined {
  if (task.deleted) return fail('NotFound');
  model.settle(task);
  if (rpc === 'CompleteTask' && proof && completedBefore(task, who, proof)) return undefined;
  if (override && who.role !== 'admin') return fail('PermissionDenied');

  const audit: ModelEvent[] = [];
  const verdict = model.rules.mode === 'OFF' ? 'ALLOWED' : model.verdict(task, who, proof);
  if (verdict.startsWith('INVALID')) return fail('InvalidArgument', { field: verdict.slice(8) });
  if (verdict !== 'ALLOWED') {
    const kind = override
      ? 'WRITE_OVERRIDDEN'
      : model.rules.mode === 'WARN'
        ? 'WRITE_WARNED'
        : 'WRITE_REJECTED';
    const what = [rpc, verdict, model.holderOf(task), proof?.token ?? 0, override].join(' ');
    const refused = kind === 'WRITE_REJECTED';
    const kept = refused && rpc === 'CompleteTask' && text !== '';
    const key = `${kind} ${who.principal} ${verdict} ${rpc}`;
    const keptKey = `${key} kept ${proof?.token ?? ''}`;
    if (kind === 'WRITE_OVERRIDDEN') audit.push(model.event(task, kind, who, what));
    else if (kept && !task.once.has(keptKey)) {
      const event = model.event(task, kind, who, `${what} ${text}`);
      model.once(task, keptKey, event, true);
      audit.push(event);
    } else {
      // Whether the write is done or not; a write that then fails for another reason tells nothing.
      const event = model.event(task, kind, who, what);
      const barrier = refused ? undefined : problemWith(task, who, rpc);
      const listed = barrier ? undefined : model.once(task, key, event);
      if (listed) audit.push(listed);
    }
    if (refused) {
      model.tell(task, ...audit);
      return fail(verdict, { holder: model.holderOf(task) });
    }
  }
  const problem = problemWith(task, who, rpc);
  if (problem) return problem;
  model.tell(task, ...audit, ...done(model, task, who, { rpc, text }));
  return undefined;
}

function completedBefore(task: ModelTask, who: Who, proof: Proof): boolean {
  const lease = task.completedWith;
  return (
    lease !== undefined &&
    proof.lease === lease &&
    proof.token === lease.token &&
    lease.principal === who.principal
  );
}

/** The contract's "Transitions". */
function problemWith(task: ModelTask, who: Who, rpc: Write['rpc']): Failure | undefined {
  const { status } = task;
  const unfinished = status === 'OPEN' || status === 'IN_PROGRESS';
  const allowed = {
    UpdateTask: true,
    AddNote: true,
    DeleteTask: true,
    CompleteTask: unfinished || (status === 'QUARANTINED' && who.role !== 'agent'),
    DropTask: unfinished || (status === 'QUARANTINED' && who.role !== 'agent'),
    ReopenTask: status === 'DONE' || status === 'DROPPED',
  }[rpc];
  return allowed ? undefined : fail('FailedPrecondition');
}

function done(model: Model, task: ModelTask, who: Who, { rpc, text }: Write): ModelEvent[] {
  const { title, status, lease } = task;
  switch (rpc) {
    case 'UpdateTask':
      if (text === title) return [];
      task.title = text;
      return [model.event(task, 'TASK_UPDATED', who, `title ${title} ${text}`)];
    case 'AddNote':
      return [model.note(task, who, text)];
    case 'CompleteTask': {
      const ends = model.endUnder(task, who, 'COMPLETED', 'DONE');
      task.completedWith = lease?.end === 'COMPLETED' ? lease : undefined;
      Object.assign(task, { result: text, closedBy: who.principal, expiries: 0 });
      return [model.event(task, 'TASK_COMPLETED', who, text), ...ends];
    }
    case 'DropTask': {
      const ends = model.endUnder(task, who, 'DROPPED', 'DROPPED');
      Object.assign(task, { result: '', closedBy: who.principal, expiries: 0 });
      return [model.event(task, 'TASK_DROPPED', who, text), ...ends];
    }
    case 'ReopenTask':
      Object.assign(task, { status: 'OPEN', result: '', closedBy: '', completedWith: undefined });
      return [
        model.event(task, 'TASK_REOPENED', who, `${text} ${status}`),
        model.event(task, 'TASK_READY', undefined, 'REOPENED'),
      ];
    case 'DeleteTask': {
      const ends = model.endUnder(task, who, 'DELETED', status);
      model.remove(task);
      return [model.event(task, 'TASK_DELETED', who, `${title} ${task.key}`), ...ends];
    }
  }
}
