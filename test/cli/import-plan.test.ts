import { describe, expect, it } from 'vitest';
import { plansOf } from '../../src/cli/import/checklist-plans.js';

function keysOf(text: string): string[] {
  return plansOf(text, 'PLAN.md', 'PLAN').plans.flatMap(({ steps }) =>
    steps.map(({ externalKey }) => externalKey),
  );
}

describe('plansOf', () => {
  it('makes a plan for each heading with items directly under it', () => {
    const { plans } = plansOf('- [ ] x\n# A\ntext\n## B\n- [ ] a\n  - [x] b\n', 'PLAN.md', 'Odds and ends');
    expect(plans).toMatchObject([
      { title: 'Odds and ends', externalKey: 'PLAN.md', steps: [{ title: 'x', externalKey: 'PLAN.md#x' }] },
      {
        title: 'A › B',
        externalKey: 'PLAN.md#A/B',
        steps: [
          { title: 'a', externalKey: 'PLAN.md#A/B/a', done: false, line: 5 },
          { title: 'a › b', externalKey: 'PLAN.md#A/B/a/b', done: true, line: 6 },
        ],
      },
    ]);
  });

  it('keeps the keys when items are moved, checked and added', () => {
    const before = keysOf('# A\n- [ ] a\n- [ ] b');
    const after = keysOf('# A\n- [ ] new\n- [x] b\n- [ ] a');
    expect(after).toEqual(expect.arrayContaining(before));
    expect(after).toHaveLength(3);
  });

  it('tells items of the same text apart', () => {
    expect(keysOf('# A\n- [ ] test\n- [ ] test\n# A\n- [ ] test')).toEqual([
      'PLAN.md#A/test',
      'PLAN.md#A/test~2',
      'PLAN.md#A/test~3',
    ]);
  });

  it('keeps keys within 256 characters, and different', () => {
    const long = '🚀'.repeat(400);
    const keys = keysOf(`- [ ] ${long}a\n- [ ] ${long}b\n- [ ] ${long}a`);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect([...key].length).toBeLessThanOrEqual(256);
  });

  it('leaves the outer title out when both together are too long', () => {
    const { plans, errors } = plansOf(
      `- [ ] ${'a'.repeat(300)}\n  - [ ] ${'b'.repeat(300)}`,
      'PLAN.md',
      'PLAN',
    );
    expect(errors).toEqual([]);
    expect(plans[0]?.steps[1]?.title).toBe('b'.repeat(300));
  });

  it.each([
    { name: 'a long title', text: `# A\n- [ ] ${'x'.repeat(501)}`, line: 2, message: 'has 501 characters' },
    {
      name: 'a long heading',
      text: `x\n# ${'x'.repeat(501)}\n- [ ] a`,
      line: 2,
      message: 'has 501 characters',
    },
    { name: 'a long body', text: `- [ ] a\n  ${'x'.repeat(65_537)}`, line: 1, message: 'has 65537 bytes' },
    { name: 'a NUL', text: '- [ ] a\n- [ ] b\u0000', line: 2, message: 'control character' },
  ])('tells the line of $name', ({ text, line, message }) => {
    expect(plansOf(text, 'PLAN.md', 'PLAN').errors).toEqual([
      { line, message: expect.stringContaining(message) },
    ]);
  });

  it('lets a title of 500 characters pass, however many bytes', () => {
    expect(plansOf(`- [ ] ${'🚀'.repeat(500)}`, 'PLAN.md', 'PLAN').errors).toEqual([]);
  });
});
