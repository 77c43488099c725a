import { describe, expect, it } from 'vitest';
import { type GuardFindings, judgeReadiness, type Tally } from '../../src/domain/enforcement-report.js';
import type { WriteCode } from '../../src/domain/event.js';

const NONE: Tally = { writes: 0, principals: 0, most: undefined };
const SINCE = Date.UTC(2026, 2, 1, 9, 15, 59) * 1_000;

const findings = (over: Partial<GuardFindings>): GuardFindings => ({
  enforcement: 'WARN',
  since: SINCE,
  warned: NONE,
  rejected: NONE,
  ...over,
});

const tally = (
  writes: number,
  principals: number,
  most: number,
  code: WriteCode = 'LOCK_REQUIRED',
): Tally => ({
  writes,
  principals,
  most: { principal: 'ada', code, rpc: 'UpdateTask', writes: most },
});

describe('readiness for ENFORCE', () => {
  it.each<[string, Partial<GuardFindings>, boolean, string]>([
    [
      'WARN without a warning',
      {},
      true,
      'Ready to enforce: since 2026-03-01 09:15 UTC, no write was done that ENFORCE would have refused.',
    ],
    [
      'WARN with many warnings',
      { warned: tally(41, 2, 38) },
      false,
      'Not ready to enforce: since 2026-03-01 09:15 UTC, ENFORCE would have refused 41 writes by 2 principals, ' +
        'mostly UpdateTask of ada with LOCK_REQUIRED (38); ' +
        'have ada acquire the task first and send the proof of its lease with each write.',
    ],
    [
      'WARN with one warning',
      { warned: tally(1, 1, 1, 'STALE_LOCK') },
      false,
      'Not ready to enforce: since 2026-03-01 09:15 UTC, ENFORCE would have refused 1 write by 1 principal, ' +
        'UpdateTask of ada with STALE_LOCK; ' +
        'have ada stop work on a task, and discard it, once its lease was taken over.',
    ],
    [
      'WARN with warnings that are all alike, and refusals of earlier',
      { warned: tally(3, 1, 3, 'LOCK_EXPIRED'), rejected: tally(9, 9, 9) },
      false,
      'Not ready to enforce: since 2026-03-01 09:15 UTC, ENFORCE would have refused 3 writes by 1 principal, ' +
        'all UpdateTask of ada with LOCK_EXPIRED; ' +
        'have ada renew its leases in time, and stop work when one is lost.',
    ],
    [
      'OFF, whatever was counted before',
      { enforcement: 'OFF' },
      false,
      'Not ready to enforce: the guard is OFF and counts nothing; ' +
        'set the enforcement to WARN and let everybody work for a few days.',
    ],
    [
      'ENFORCE without a refusal',
      { enforcement: 'ENFORCE', warned: tally(3, 1, 3) },
      true,
      'ENFORCE is on: it refused nothing since 2026-03-01 09:15 UTC.',
    ],
    [
      'ENFORCE with refusals',
      { enforcement: 'ENFORCE', rejected: tally(12, 3, 7, 'LOCKED_BY_OTHER') },
      true,
      'ENFORCE is on: it refused 12 writes by 3 principals since 2026-03-01 09:15 UTC, ' +
        'mostly UpdateTask of ada with LOCKED_BY_OTHER (7).',
    ],
  ])('%s', (_, over, ready, summary) => {
    expect(judgeReadiness(findings(over))).toEqual({ ready, summary });
  });
});
