import type { Task } from '@holdfast/proto/task';
import { useState } from 'react';

/** What of a task's content can be changed. */
interface Content {
  readonly title: string;
  readonly body: string;
  readonly priority: number;
  readonly labels: string[];
  readonly assignee: string;
  /** Of the task as it was when the form was opened: what was changed since is not overwritten. */
  readonly etag: string;
}

interface Asked {
  readonly task: Task;
  readonly busy: boolean;
  readonly onSave: (content: Content) => void;
  readonly onCancel: () => void;
}

export function EditForm({ task, busy, onSave, onCancel }: Asked) {
  const [before] = useState(task);
  const [title, setTitle] = useState(task.title);
  const [body, setBody] = useState(task.body);
  const [priority, setPriority] = useState(String(task.priority));
  const [labels, setLabels] = useState(written(task.labels));
  const [assignee, setAssignee] = useState(task.assignee);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSave({
          title: title.trim(),
          body,
          priority: Number(priority) || 0,
          labels: labels === written(before.labels) ? before.labels : read(labels),
          assignee: assignee.trim(),
          etag: before.etag,
        });
      }}
    >
      <label className="field">
        <span>Title</span>
        <input value={title} required maxLength={500} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="field">
        <span>Content</span>
        <textarea value={body} rows={8} onChange={(event) => setBody(event.target.value)} />
      </label>
      <div className="form-row">
        <label className="field">
          <span>Priority</span>
          <input
            type="number"
            step={1}
            value={priority}
            onChange={(event) => setPriority(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Assignee</span>
          <input value={assignee} onChange={(event) => setAssignee(event.target.value)} />
        </label>
      </div>
      <label className="field">
        <span>Labels, with commas between</span>
        <input value={labels} onChange={(event) => setLabels(event.target.value)} />
      </label>
      <div className="form-end">
        <button type="button" className="button quiet" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={busy || !title.trim()}>
          Save
        </button>
      </div>
    </form>
  );
}

/** A label may have a comma itself: what nobody touched is not read back. */
const written = (labels: readonly string[]): string => labels.join(', ');

const read = (text: string): string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter(Boolean);
