import { expect, test } from 'vitest';
import { createRenewalHints, tasksIn } from '../../src/feed/renewal-hints.js';
import { openStores } from '../store/fixture.js';

test('renewals travel together, each payload short enough for Postgres, none lost', async () => {
  const { stores, sql } = await openStores();
  const heard: string[] = [];
  await sql.listen('holdfast_leases', (payload) => heard.push(payload));
  const faults: unknown[] = [];
  const hints = createRenewalHints(stores[0], (_, error) => faults.push(error));
  const wanted = new Set<string>();
  const long = '測'.repeat(256);
  for (let i = 0; i < 1_000; i++) {
    for (const project of ['default', `"quoted" ${long}`]) {
      const taskId = `task ${i} ${'\\'.repeat(i % 50)}`;
      wanted.add(JSON.stringify([project, taskId]));
      hints.renewed(project, taskId);
      hints.renewed(project, taskId);
    }
  }
  const told = () =>
    heard.flatMap((payload) =>
      tasksIn(payload).flatMap(([project, ids]) => ids.map((id) => JSON.stringify([project, id]))),
    );
  await expect.poll(() => told().length, { timeout: 10_000 }).toBe(wanted.size);
  expect(new Set(told())).toEqual(wanted);
  expect(Math.max(...heard.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000);
  expect(faults).toEqual([]);
  await hints.stop();
});

test('a payload that somebody else sent is passed over', () => {
  for (const payload of ['', 'x', 'null', '[]', '7', '{"a": 1}', '{"a": null}', '"x"']) {
    expect(tasksIn(payload)).toEqual([]);
  }
  expect(tasksIn('{"a": ["t", 7, null]}')).toEqual([['a', ['t']]]);
});
