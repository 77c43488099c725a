import type { Holder } from '@holdfast/proto/guard';
import { Icon } from './icon.js';

/** Who holds a lease: the principal, and which of its executions. */
export function HolderName({ holder }: { holder: Holder | undefined }) {
  if (!holder) return null;
  return (
    <span className="holder" title={`${holder.principal}, execution ${holder.executionId}`}>
      <Icon name="agent" />
      <span className="holder-principal">{holder.principal}</span>
      <span className="holder-execution">{shortExecution(holder)}</span>
    </span>
  );
}

/** Executions are often named after their principal, or are long random ids. */
export function shortExecution({ principal, executionId }: Holder): string {
  const rest = executionId.startsWith(`${principal}-`)
    ? executionId.slice(principal.length + 1)
    : executionId;
  return rest.length > 18 ? `…${rest.slice(-10)}` : rest;
}
