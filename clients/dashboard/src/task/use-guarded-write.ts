import { Code, ConnectError } from '@connectrpc/connect';
import { explain, WriteRejected } from '@holdfast/client';
import { useState } from 'react';

/** What a write carries beside its content. */
export interface Extra {
  readonly overrideReason?: string;
}

export type Write = (extra: Extra) => Promise<unknown>;

/** A write that was not done, and what can be done about it. */
export interface Refused {
  readonly text: string;
  /** The guard refused it: an admin may do it all the same, with a reason. */
  readonly write: Write | undefined;
}

/** Runs writes of a page one at a time, and keeps what the last one was refused for. */
export function useGuardedWrite() {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Refused>();

  const run = async (write: Write, extra: Extra = {}): Promise<boolean> => {
    setBusy(true);
    setRefused(undefined);
    try {
      await write(extra);
      return true;
    } catch (error) {
      setRefused({ text: reasonOf(error), write: error instanceof WriteRejected ? write : undefined });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, refused, run, forget: () => setRefused(undefined) };
}

function reasonOf(error: unknown): string {
  if (error instanceof WriteRejected && error.holder) {
    const until = error.expiresAt ? ` until ${error.expiresAt.toLocaleTimeString()} unless it renews` : '';
    return `Not changed, ${error.code}: ${error.holder.principal} holds this task${until}. Wait for it, or talk to its owner; an admin can override.`;
  }
  if (error instanceof ConnectError && error.code === Code.Aborted) {
    return 'Not changed: somebody else changed the task meanwhile. Close the form, look at the new content, and try again.';
  }
  return explain(error);
}
