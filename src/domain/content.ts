import { type ContentChange, type NoteDraft, whileLive } from './change.js';
import type { Decision, Snapshot } from './decision.js';
import { cutText, type FieldChange } from './event.js';
import type { Caller } from './principal.js';
import type { TaskState } from './task-state.js';
import { actorOf, type GuardedRequest, guarded } from './write.js';

/** The part of a task that UpdateTask can change. */
export interface Content {
  readonly title: string;
  readonly body: string;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly assignee: string;
}

type Value = string | number | readonly string[];

const asText = (value: Value): string =>
  cutText(typeof value === 'object' ? value.join(', ') : String(value));

/** What differs between the content and the wanted one, field by field, for the history. */
export function differences<Field extends string>(
  before: Readonly<Record<Field, Value>>,
  wanted: { readonly [F in Field]?: Value },
): FieldChange[] {
  return (Object.keys(wanted) as Field[]).flatMap((field) => {
    const after = wanted[field];
    if (after === undefined || JSON.stringify(after) === JSON.stringify(before[field])) return [];
    return [{ field, before: asText(before[field]), after: asText(after) }];
  });
}

/** Without a proof the verdict may rest on the task being blocked; with one, only on the lease. */
function writeBasis(state: TaskState, request: GuardedRequest) {
  return {
    leaseVersion: state.leaseVersion,
    ...(!request.proof && { depsVersion: state.depsVersion }),
  };
}

export function decideUpdate(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  content: Content,
  wanted: ContentChange,
  etag: string | undefined,
): Decision<'UPDATED' | 'UNCHANGED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => {
    if (etag !== undefined && etag !== state.contentVersion.toString()) {
      return {
        problem: {
          kind: 'ETAG_MISMATCH',
          message: 'The task was changed since you read it: read it again, then decide anew.',
        },
      };
    }
    const changes = differences(content, wanted);
    if (changes.length === 0 && audit.length === 0) return { answer: 'UNCHANGED' };
    return {
      answer: 'UPDATED',
      change: {
        taskId: state.taskId,
        expect: { ...writeBasis(state, request), contentVersion: state.contentVersion },
        ...whileLive(state),
        ...(changes.length > 0 && { content: wanted }),
        events: [
          ...audit,
          ...(changes.length > 0
            ? [{ kind: 'TASK_UPDATED' as const, actor: actorOf(caller), payload: { changes } }]
            : []),
        ],
      },
    };
  });
}

export function decideNote(
  snapshot: Snapshot,
  caller: Caller,
  request: GuardedRequest,
  note: NoteDraft,
): Decision<'NOTED'> {
  const { state } = snapshot;
  return guarded(snapshot, caller, request, (audit) => ({
    answer: 'NOTED',
    ref: note.id,
    change: {
      taskId: state.taskId,
      expect: writeBasis(state, request),
      ...whileLive(state),
      note,
      events: [...audit, noteEvent(note, caller)],
    },
  }));
}

export function noteEvent(note: NoteDraft, caller: Caller) {
  return {
    kind: 'NOTE_ADDED' as const,
    actor: actorOf(caller),
    payload: { noteId: note.id, text: note.text },
  };
}
