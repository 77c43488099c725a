import { describe, expect, test } from 'vitest';
import { type Content, decideNote, decideUpdate, differences } from '../../src/domain/content.js';
import { MINUTE } from '../../src/domain/instant.js';
import { AGENT, bare, lease, MEMBER, NOW, proven, STRANGER, snapshot } from './snapshots.js';

const CONTENT: Content = { title: 'a', body: 'b', priority: 1, labels: ['x', 'y'], assignee: '' };

describe('differences', () => {
  test.each([
    ['nothing wanted', {}, []],
    ['the same again', { title: 'a', labels: ['x', 'y'], priority: 1 }, []],
    ['a text', { title: 'z' }, [{ field: 'title', before: 'a', after: 'z' }]],
    ['a text emptied', { body: '' }, [{ field: 'body', before: 'b', after: '' }]],
    ['a number', { priority: -1 }, [{ field: 'priority', before: '1', after: '-1' }]],
    ['labels', { labels: ['y'] }, [{ field: 'labels', before: 'x, y', after: 'y' }]],
    ['labels in another order', { labels: ['y', 'x'] }, [{ field: 'labels', before: 'x, y', after: 'y, x' }]],
    [
      'several, and one that stays',
      { title: 'a', body: 'c', assignee: 'ada' },
      [
        { field: 'body', before: 'b', after: 'c' },
        { field: 'assignee', before: '', after: 'ada' },
      ],
    ],
  ])('%s', (_name, wanted, changes) => {
    expect(differences(CONTENT, wanted)).toEqual(changes);
  });

  test('are cut at 1 KiB', () => {
    const [change] = differences(CONTENT, { body: 'c'.repeat(1024) });
    expect(change?.after).toBe('c'.repeat(1024));
    const [cut] = differences(CONTENT, { body: 'c'.repeat(1025) });
    expect(cut?.after).toBe(`${'c'.repeat(1023)}…`);
  });

  test('are never cut inside a character', () => {
    const [change] = differences(CONTENT, { body: `${'c'.repeat(1022)}${'😀'.repeat(10)}` });
    expect(change?.after.isWellFormed()).toBe(true);
  });
});

describe('update', () => {
  const update = (wanted: Partial<Content>, etag?: string, request = proven(), over = { lease: lease() }) =>
    decideUpdate(snapshot(over), AGENT, request, CONTENT, wanted, etag);

  test('writes what is wanted and tells what changed, against the content that it read', () => {
    expect(update({ title: 'z', priority: 1 })).toEqual({
      answer: 'UPDATED',
      change: {
        taskId: 'task',
        expect: { leaseVersion: 11n, contentVersion: 13n },
        before: NOW + MINUTE,
        content: { title: 'z', priority: 1 },
        events: [
          {
            kind: 'TASK_UPDATED',
            actor: { principal: 'ada', kind: 'AGENT', executionId: 'run-1' },
            payload: { changes: [{ field: 'title', before: 'a', after: 'z' }] },
          },
        ],
      },
    });
  });

  test('that changes nothing is no event', () => {
    expect(update({ title: 'a' })).toEqual({ answer: 'UNCHANGED' });
    expect(update({})).toEqual({ answer: 'UNCHANGED' });
  });

  test('that changes nothing, but was warned of: the warning alone', () => {
    const snap = snapshot({ lease: lease({ holder: STRANGER }) }, { enforcement: 'WARN' });
    const decision = decideUpdate(snap, AGENT, bare(), CONTENT, { title: 'a' }, undefined);
    expect(decision).toMatchObject({ change: { events: [{ kind: 'WRITE_WARNED' }] } });
    expect(decision).not.toHaveProperty('change.content');
  });

  test.each([
    ['the current one', '13', 'answer'],
    ['absent', undefined, 'answer'],
    ['an older one', '12', 'problem'],
    ['nonsense', 'W/"13"', 'problem'],
  ])('etag %s', (_name, etag, result) => {
    expect(update({ title: 'z' }, etag)).toHaveProperty(result);
  });

  test('a bad etag is found before nothing is found to change, and after the guard', () => {
    expect(update({ title: 'a' }, '12')).toMatchObject({ problem: { kind: 'ETAG_MISMATCH' } });
    const refused = update({ title: 'z' }, '12', bare(), { lease: lease({ holder: STRANGER }) });
    expect(refused).toMatchObject({ problem: { kind: 'WRITE_REJECTED' } });
  });
});

describe('note', () => {
  const note = { id: 'note-1', author: 'ada', executionId: 'run-1', text: 'half way' };

  test('under a lease relies on the lease alone, so that writers of notes do not fight', () => {
    expect(decideNote(snapshot({ lease: lease() }), AGENT, proven(), note)).toEqual({
      answer: 'NOTED',
      ref: 'note-1',
      change: {
        taskId: 'task',
        expect: { leaseVersion: 11n },
        before: NOW + MINUTE,
        note,
        events: [
          {
            kind: 'NOTE_ADDED',
            actor: { principal: 'ada', kind: 'AGENT', executionId: 'run-1' },
            payload: { noteId: 'note-1', text: 'half way' },
          },
        ],
      },
    });
  });

  test('without a proof relies on the edges too: a blocked task needs no lease, a free one does', () => {
    const decision = decideNote(snapshot({ unmet: 1 }), AGENT, bare(), note);
    expect(decision).toMatchObject({ change: { expect: { leaseVersion: 11n, depsVersion: 12n } } });
  });

  test.each(['OPEN', 'DONE', 'DROPPED', 'QUARANTINED'] as const)(
    'a person may note on a task that is %s',
    (status) => {
      expect(decideNote(snapshot({ status }), MEMBER, bare(), note)).toMatchObject({ answer: 'NOTED' });
    },
  );
});
