import { useEffect, useRef, useState } from 'react';

interface Asked {
  readonly label: string;
  readonly confirm: string;
  readonly required?: boolean;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

/** Asks for one text, such as a result or a reason, before something is done. */
export function ReasonForm({
  label,
  confirm,
  required = false,
  danger = false,
  busy,
  onSubmit,
  onCancel,
}: Asked) {
  const [text, setText] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  // The form opens because somebody asked for it.
  useEffect(() => area.current?.focus(), []);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(text.trim());
      }}
    >
      <label className="field">
        <span>{label}</span>
        <textarea
          value={text}
          required={required}
          ref={area}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="form-end">
        <button type="button" className="button quiet" onClick={onCancel}>
          Cancel
        </button>
        <button
          type="submit"
          className={`button ${danger ? 'danger' : 'primary'}`}
          disabled={busy || (required && !text.trim())}
        >
          {confirm}
        </button>
      </div>
    </form>
  );
}
