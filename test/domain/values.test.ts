import { describe, expect, test } from 'vitest';
import { retryAfter } from '../../src/domain/advice.js';
import { DAY, describeSpan, HOUR, MINUTE, SECOND } from '../../src/domain/instant.js';
import { canonicalPrincipal, isHolder, roleFits } from '../../src/domain/principal.js';
import { isClosed, isLive, lapsedLease, liveLease, statusAt } from '../../src/domain/task-state.js';
import { ageLimit, applicableTtl, MIN_TTL } from '../../src/domain/ttl.js';
import { AGENT, lease, NOW, SETTINGS, state } from './snapshots.js';

describe('the time to live', () => {
  test.each([
    ['absent: the fallback', undefined, 15 * MINUTE],
    ['zero: the fallback', 0, 15 * MINUTE],
    ['the least', MIN_TTL, SECOND],
    ['just below the maximum', 2 * HOUR - 1, 2 * HOUR - 1],
    ['the maximum', 2 * HOUR, 2 * HOUR],
    ['above it', 2 * HOUR + 1, 2 * HOUR],
  ])('%s', (_name, requested, applied) => {
    expect(applicableTtl(requested, 15 * MINUTE, SETTINGS)).toBe(applied);
  });

  test('a fallback above a maximum that was lowered meanwhile is cut, too', () => {
    expect(applicableTtl(undefined, 3 * HOUR, SETTINGS)).toBe(2 * HOUR);
  });

  test('the age cap counts from the grant; 0 is none', () => {
    expect(ageLimit(NOW, SETTINGS)).toBe(NOW + DAY);
    expect(ageLimit(NOW, { ...SETTINGS, maxAge: 0 })).toBeUndefined();
  });
});

describe('liveness has one predicate: over when the clock is at or past the deadline', () => {
  test.each([
    [-1, true],
    [0, false],
    [1, false],
  ])('at the deadline %i microseconds: %s', (offset, live) => {
    const held = state({ lease: lease({ expiresAt: NOW }) });
    const now = NOW + offset;
    expect(isLive(lease({ expiresAt: NOW }), now)).toBe(live);
    expect(liveLease(held, now) !== undefined).toBe(live);
    expect(lapsedLease(held, now) !== undefined).toBe(!live);
    expect(statusAt(held, now)).toBe(live ? 'IN_PROGRESS' : 'OPEN');
  });

  test('without a lease there is neither, and the status is what it is', () => {
    expect(liveLease(state(), NOW)).toBeUndefined();
    expect(lapsedLease(state(), NOW)).toBeUndefined();
    expect(statusAt(state({ status: 'DONE' }), NOW)).toBe('DONE');
  });

  test('closed is what cannot be leased by waiting', () => {
    const statuses = ['OPEN', 'IN_PROGRESS', 'DONE', 'DROPPED', 'QUARANTINED'] as const;
    expect(statuses.filter(isClosed)).toEqual(['DONE', 'DROPPED', 'QUARANTINED']);
  });
});

describe('a principal has one spelling', () => {
  test.each([
    ['case', 'Ada', 'ada'],
    ['case beyond ASCII', 'ÄÖÜ', 'äöü'],
    ['composition', 'Zoe\u0308', 'zoë'],
    ['case and composition at once', 'ZOE\u0308', 'zo\u00eb'],
    ['width', 'ＡＤＡ', 'ada'],
    ['ligatures', 'ﬁle', 'file'],
    ['the Kelvin sign', '\u212Aelvin', 'kelvin'],
    ['a dotted capital I, whose small form decomposes', '\u0130', 'i\u0307'],
    ['numbers in circles', '①', '1'],
    ['an emoji stays', '🤖-7', '🤖-7'],
  ])('%s', (_name, written, canonical) => {
    expect(canonicalPrincipal(written)).toBe(canonical);
    expect(canonicalPrincipal(canonical)).toBe(canonical);
  });

  test('the capital ß is a ß, and "ss" is another name', () => {
    expect(['straße', 'Straße', 'STRAẞE'].map(canonicalPrincipal)).toEqual(Array(3).fill('straße'));
    expect(canonicalPrincipal('STRASSE')).toBe('strasse');
  });

  test('different names stay different', () => {
    expect(canonicalPrincipal('ada ')).not.toBe(canonicalPrincipal('ada'));
    expect(canonicalPrincipal('ada-1')).not.toBe(canonicalPrincipal('ada_1'));
  });
});

test('a holder is a principal and an execution', () => {
  expect(isHolder({ principal: 'ada', executionId: 'run-1' }, AGENT)).toBe(true);
  expect(isHolder({ principal: 'ada', executionId: 'run-2' }, AGENT)).toBe(false);
  expect(isHolder({ principal: 'bob', executionId: 'run-1' }, AGENT)).toBe(false);
  expect(isHolder({ principal: 'ada', executionId: 'run-1' }, { ...AGENT, executionId: undefined })).toBe(
    false,
  );
});

test('which role fits which kind', () => {
  const roles = ['agent', 'viewer', 'member', 'admin'] as const;
  expect(roles.filter((role) => roleFits('AGENT', role))).toEqual(['agent']);
  expect(roles.filter((role) => roleFits('PERSON', role))).toEqual(['viewer', 'member', 'admin']);
});

describe('retry_after', () => {
  test.each([
    ['at the deadline', 20 * SECOND, 0, 20 * SECOND],
    ['spread by up to a fifth', 20 * SECOND, 0.5, 22 * SECOND],
    ['never at once', 0, 0, SECOND / 10],
    ['not later than a minute, since holders release early', HOUR, 0, MINUTE],
  ])('%s', (_name, remaining, chance, wait) => {
    expect(retryAfter(remaining, chance)).toBe(wait);
  });

  test('is never before the deadline, nor much after it', () => {
    for (const chance of [0, 0.25, 0.999_999]) {
      const wait = retryAfter(10 * SECOND, chance);
      expect(wait).toBeGreaterThanOrEqual(10 * SECOND);
      expect(wait).toBeLessThanOrEqual(12 * SECOND);
    }
  });
});

describe('a span for people', () => {
  test.each([
    [0, '0 s'],
    [-5 * SECOND, '0 s'],
    [SECOND / 2, '0.5 s'],
    [SECOND, '1 s'],
    [9.94 * SECOND, '9.9 s'],
    [9.99 * SECOND, '10 s'],
    [10 * SECOND, '10 s'],
    [45 * SECOND, '45 s'],
    [59.6 * SECOND, '1 min'],
    [MINUTE, '1 min'],
    [90 * SECOND, '1 min 30 s'],
    [90 * MINUTE, '1 h 30 min'],
    [HOUR + SECOND, '1 h 1 s'],
    [2 * DAY, '48 h'],
  ])('%i microseconds: %s', (span, text) => {
    expect(describeSpan(span)).toBe(text);
  });
});
