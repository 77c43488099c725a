import { useState } from 'react';
import { usePlace } from '../live/use-live.js';
import type { Refused, Write } from './use-guarded-write.js';

/** Why a write was not done; an admin is offered to override the guard, with a reason that is kept. */
export function Refusal({
  refused,
  busy,
  onOverride,
}: {
  refused: Refused | undefined;
  busy: boolean;
  onOverride: (write: Write, reason: string) => void;
}) {
  const { session } = usePlace();
  const [reason, setReason] = useState('');
  if (!refused) return null;
  const { text, write } = refused;
  return (
    <div className="refusal" role="alert">
      <p className="problem">{text}</p>
      {write && session.isAdmin && (
        <form
          className="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            onOverride(write, reason.trim());
          }}
        >
          <label className="field">
            <span>Reason to override, kept in the history</span>
            <input value={reason} required onChange={(event) => setReason(event.target.value)} />
          </label>
          <button type="submit" className="button danger" disabled={busy || !reason.trim()}>
            Override
          </button>
        </form>
      )}
    </div>
  );
}
