import type { WriteCode } from './event.js';
import type { Micros } from './instant.js';
import type { Enforcement } from './settings.js';

/** Writes of one principal that the guard found fault with, for one reason, by one RPC. */
interface FaultyWrites {
  readonly principal: string;
  readonly code: WriteCode;
  readonly rpc: string;
  readonly writes: number;
}

/** What the guard found since some moment. */
export interface GuardFindings {
  /** What the project does with such a write now. */
  readonly enforcement: Enforcement;
  readonly since: Micros;
  /** Writes that were done with a warning: in all, and those of whom and what there were most. */
  readonly warned: Tally;
  /** Writes that were refused. */
  readonly rejected: Tally;
}

export interface Tally {
  readonly writes: number;
  readonly principals: number;
  /** Undefined when there were none. */
  readonly most: FaultyWrites | undefined;
}

export interface Readiness {
  readonly ready: boolean;
  /** One sentence: that it is ready, or what stands in the way and what to do. */
  readonly summary: string;
}

/** What to have a writer do, so that its writes are no longer found fault with. */
const REMEDY: Record<WriteCode, string> = {
  LOCK_REQUIRED: 'acquire the task first and send the proof of its lease with each write',
  LOCK_EXPIRED: 'renew its leases in time, and stop work when one is lost',
  LOCKED_BY_OTHER: 'leave alone what somebody else holds, and send the execution and proof of its own lease',
  STALE_LOCK: 'stop work on a task, and discard it, once its lease was taken over',
};

/** Whether a project can move from WARN to ENFORCE without having a write refused that is done now. */
export function judgeReadiness({ enforcement, since, warned, rejected }: GuardFindings): Readiness {
  const span = `since ${minuteOf(since)}`;
  if (enforcement === 'OFF') {
    return {
      ready: false,
      summary:
        'Not ready to enforce: the guard is OFF and counts nothing; ' +
        'set the enforcement to WARN and let everybody work for a few days.',
    };
  }
  if (enforcement === 'ENFORCE') {
    const refused = rejected.most
      ? `it refused ${tallied(rejected)} ${span}${mostly(rejected, rejected.most)}`
      : `it refused nothing ${span}`;
    return { ready: true, summary: `ENFORCE is on: ${refused}.` };
  }
  if (!warned.most) {
    return {
      ready: true,
      summary: `Ready to enforce: ${span}, no write was done that ENFORCE would have refused.`,
    };
  }
  const { principal, code } = warned.most;
  return {
    ready: false,
    summary:
      `Not ready to enforce: ${span}, ENFORCE would have refused ${tallied(warned)}` +
      `${mostly(warned, warned.most)}; have ${principal} ${REMEDY[code]}.`,
  };
}

function tallied({ writes, principals }: Tally): string {
  return `${plural(writes, 'write')} by ${plural(principals, 'principal')}`;
}

function mostly(all: Tally, { principal, code, rpc, writes }: FaultyWrites): string {
  const what = `${rpc} of ${principal} with ${code}`;
  return writes === all.writes ? `, ${writes === 1 ? '' : 'all '}${what}` : `, mostly ${what} (${writes})`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2026-03-01 09:15 UTC`. */
function minuteOf(instant: Micros): string {
  const iso = new Date(instant / 1_000).toISOString();
  return `${iso.slice(0, iso.lastIndexOf(':')).replace('T', ' ')} UTC`;
}
