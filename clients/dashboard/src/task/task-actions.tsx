import { type Task, TaskStatus } from '@holdfast/proto/task';
import { useState } from 'react';
import { useLive } from '../live/use-live.js';
import { EditForm } from './edit-form.js';
import { Enforced } from './enforced.js';
import { ReasonForm } from './reason-form.js';
import { Refusal } from './refusal.js';
import { useGuardedWrite, type Write } from './use-guarded-write.js';

type Doing = 'edit' | 'complete' | 'drop' | 'reopen' | 'requeue' | 'release';

const { OPEN, IN_PROGRESS, DONE, DROPPED, QUARANTINED } = TaskStatus;

const AFTER: Readonly<
  Record<Exclude<Doing, 'edit'>, { label: string; confirm: string; required?: true; danger?: true }>
> = {
  complete: { label: 'What came of it', confirm: 'Complete' },
  drop: { label: 'Why it will not be done', confirm: 'Drop', danger: true },
  reopen: { label: 'Why it is open again', confirm: 'Reopen' },
  requeue: { label: 'Why it is safe to try again', confirm: 'Requeue' },
  release: { label: 'Why the lease is taken away', confirm: 'Force-release', required: true, danger: true },
};

/** What may be done to a task, by role and status. A viewer is offered nothing. */
function offered(task: Task, held: boolean, isAdmin: boolean): readonly (readonly [Doing, string])[] {
  const { status } = task;
  return (
    [
      ['edit', 'Edit', true],
      ['complete', 'Complete', status === OPEN || status === IN_PROGRESS || status === QUARANTINED],
      ['drop', 'Drop', status === OPEN || status === IN_PROGRESS || status === QUARANTINED],
      ['reopen', 'Reopen', status === DONE || status === DROPPED],
      ['requeue', 'Requeue', status === QUARANTINED],
      ['release', 'Force-release', held && isAdmin],
    ] as const
  ).flatMap(([doing, text, possible]) => (possible ? [[doing, text] as const] : []));
}

export function TaskActions({ task, read }: { task: Task; read: () => Promise<void> }) {
  const { live, session } = useLive();
  const [doing, setDoing] = useState<Doing>();
  const { busy, refused, run, forget } = useGuardedWrite();
  if (!session.canWrite) return null;

  const lease = live.board.leases.get(task.id);
  const { tasks, leases } = live.holdfast;
  const to = { project: live.project, taskId: task.id };
  const attempt = async (write: Write, overrideReason?: string) => {
    if (!(await run(write, overrideReason ? { overrideReason } : {}))) return;
    setDoing(undefined);
    await read();
  };
  const close = () => {
    setDoing(undefined);
    forget();
  };
  const withText = (text: string): Write => {
    switch (doing) {
      case 'complete':
        return (extra) => tasks.completeTask({ ...to, ...extra, result: text });
      case 'drop':
        return (extra) => tasks.dropTask({ ...to, ...extra, reason: text });
      case 'reopen':
        return (extra) => tasks.reopenTask({ ...to, ...extra, reason: text });
      case 'requeue':
        return () => tasks.requeueTask({ ...to, reason: text });
      default:
        return () => leases.forceReleaseLease({ ...to, reason: text });
    }
  };

  return (
    <div className="actions">
      <div className="action-buttons">
        {offered(task, lease !== undefined, session.isAdmin).map(([each, text]) => (
          <button
            key={each}
            type="button"
            className={`button ${each === 'release' ? 'danger' : ''}`}
            aria-pressed={doing === each}
            onClick={() => {
              forget();
              setDoing(doing === each ? undefined : each);
            }}
          >
            {text}
          </button>
        ))}
      </div>
      {doing && doing !== 'release' && lease && <Enforced lease={lease} />}
      {doing === 'edit' && (
        <EditForm
          task={task}
          busy={busy}
          onCancel={close}
          onSave={(content) =>
            attempt((extra) =>
              tasks.updateTask({
                ...to,
                ...extra,
                ...content,
                updateMask: { paths: ['title', 'body', 'priority', 'labels', 'assignee'] },
              }),
            )
          }
        />
      )}
      {doing && doing !== 'edit' && (
        <ReasonForm
          key={doing}
          {...AFTER[doing]}
          busy={busy}
          onCancel={close}
          onSubmit={(text) => attempt(withText(text))}
        />
      )}
      <Refusal refused={refused} busy={busy} onOverride={attempt} />
    </div>
  );
}
