import { afterAll, expect, test } from 'vitest';
import { connect } from '../support/postgres.js';
import { startTestService } from '../support/service.js';
import { Cli } from './holdfast-process.js';

const closing: (() => unknown)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

test('history says up to where nothing is kept any more, when its beginning is shown', async () => {
  const service = await startTestService();
  const cli = new Cli({ HOLDFAST_URL: service.url, HOLDFAST_TOKEN: service.ownerToken });
  closing.push(() => cli.remove());
  await service.client(service.ownerToken).tasks.createTask({ title: 'a task' });
  expect((await cli.run('history')).stderr).toBe('');

  const sql = connect(service.databaseUrl, { max: 1 });
  closing.push(() => sql.end());
  await sql`DELETE FROM event WHERE position <= 2`;
  await sql`UPDATE history_head SET floor = 2`;
  const note = 'What happened up to position 2 is no longer kept.\n';
  expect((await cli.run('history')).stderr).toBe(note);
  expect((await cli.run('history', '--oldest-first', '--limit', '1')).stderr).toContain(note);
  const newest = await cli.run('history', '--limit', '1');
  expect(newest.stderr).toBe('There are more than 1; see --limit.\n');
  const { stdout, stderr } = await cli.run('history', '--json');
  expect([JSON.parse(stdout).floor, stderr]).toEqual(['2', '']);
});
