import type { Note, Task } from '@holdfast/proto/task';
import { useState } from 'react';
import { usePlace } from '../live/use-live.js';
import { RelativeTime } from '../ui/relative-time.js';
import { msOf } from '../ui/time.js';
import { Refusal } from './refusal.js';
import { useGuardedWrite, type Write } from './use-guarded-write.js';

/** What earlier holders and people left for the next, newest first. */
export function Notes({
  task,
  notes,
  read,
}: {
  task: Task;
  notes: readonly Note[];
  read: () => Promise<void>;
}) {
  const { live, session } = usePlace();
  const [text, setText] = useState('');
  const { busy, refused, run } = useGuardedWrite();

  const attempt = async (write: Write, overrideReason?: string) => {
    if (!(await run(write, overrideReason ? { overrideReason } : {}))) return;
    setText('');
    await read();
  };
  const note: Write = (extra) =>
    live.holdfast.tasks.addNote({ project: live.project, taskId: task.id, text: text.trim(), ...extra });

  return (
    <section>
      <h3>Notes</h3>
      {session.canWrite && (
        <form
          className="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            void attempt(note);
          }}
        >
          <label className="field">
            <span className="visually-hidden">New note</span>
            <input
              value={text}
              placeholder="What the next holder should know…"
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <button type="submit" className="button" disabled={busy || !text.trim()}>
            Add note
          </button>
        </form>
      )}
      <Refusal refused={refused} busy={busy} onOverride={attempt} />
      {notes.length === 0 && <p className="nothing">No notes yet.</p>}
      <ol className="notes">
        {notes.map(({ id, author, text, createdAt }) => (
          <li key={id}>
            <p className="note-by">
              <strong>{author}</strong> <RelativeTime atMs={msOf(createdAt)} />
            </p>
            <p className="prose">{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
