import { Enforcement } from '@holdfast/proto/guard';
import type { HeldLease } from '../live/board.js';
import { useLive } from '../live/use-live.js';

/** What will come of a write while somebody else holds the task. */
export function Enforced({ lease }: { lease: HeldLease }) {
  const { live } = useLive();
  const holder = lease.holder?.principal ?? 'Somebody';
  switch (live.about?.effectiveSettings?.enforcement) {
    case Enforcement.ENFORCE:
      return (
        <p className="caution">
          {holder} holds this task. The project enforces leases: the write will be refused.
        </p>
      );
    case Enforcement.OFF:
      return (
        <p className="caution">
          {holder} holds this task. The project does not look at leases: the write is done.
        </p>
      );
    default:
      return (
        <p className="caution">{holder} holds this task. The write is done, and recorded as a warning.</p>
      );
  }
}
