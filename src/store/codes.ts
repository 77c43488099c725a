import type { EventKind } from '../domain/event.js';
import type { MadeFor } from '../domain/identity.js';
import type { PrincipalKind, Role } from '../domain/principal.js';
import type { Enforcement } from '../domain/settings.js';
import type { LeaseEnd, TaskStatus } from '../domain/task-state.js';

/**
 * The small integers that stand for names in the database. They are written down for ever: add, never
 * renumber. Where the API has an enum of the same names, the numbers are the same.
 */
function codes<Name extends string>(numbers: Record<Name, number>) {
  const names = new Map(Object.entries<number>(numbers).map(([name, code]) => [code, name as Name]));
  return {
    names: Object.keys(numbers) as Name[],
    code: (name: Name): number => numbers[name],
    name: (code: number): Name => {
      const name = names.get(code);
      if (name === undefined) throw new Error(`the database holds the unknown code ${code}`);
      return name;
    },
  };
}

export const statusCodes = codes<TaskStatus>({
  OPEN: 1,
  IN_PROGRESS: 2,
  DONE: 3,
  DROPPED: 4,
  QUARANTINED: 5,
});

export const leaseEndCodes = codes<LeaseEnd>({ RELEASED: 2, COMPLETED: 3, EXPIRED: 4, REVOKED: 5 });

export const enforcementCodes = codes<Enforcement>({ OFF: 1, WARN: 2, ENFORCE: 3 });

export const kindCodes = codes<PrincipalKind>({ AGENT: 1, PERSON: 2 });

export const roleCodes = codes<Role>({ agent: 1, viewer: 2, member: 3, admin: 4 });

export const madeForCodes = codes<MadeFor>({ SIGN_IN: 1, VISITORS: 2 });

export const eventCodes = codes<EventKind>({
  TASK_CREATED: 1,
  TASK_UPDATED: 2,
  TASK_READY: 3,
  TASK_COMPLETED: 4,
  TASK_DROPPED: 5,
  TASK_REOPENED: 6,
  TASK_QUARANTINED: 7,
  TASK_REQUEUED: 8,
  TASK_DELETED: 9,
  NOTE_ADDED: 10,
  DEPENDENCY_ADDED: 11,
  DEPENDENCY_REMOVED: 12,
  PLAN_CREATED: 13,
  PLAN_UPDATED: 14,
  LEASE_ACQUIRED: 15,
  LEASE_TAKEN_OVER: 16,
  LEASE_RELEASED: 17,
  LEASE_EXPIRED: 18,
  LEASE_REVOKED: 19,
  ACQUIRE_REFUSED: 20,
  WRITE_WARNED: 21,
  WRITE_REJECTED: 22,
  WRITE_OVERRIDDEN: 23,
  EXECUTION_ENDED: 24,
  PROJECT_CREATED: 25,
  SETTINGS_CHANGED: 26,
  WEBHOOK_CREATED: 27,
  WEBHOOK_DELETED: 28,
  WEBHOOK_FAILED: 29,
  TOKEN_CREATED: 30,
  TOKEN_REVOKED: 31,
});
