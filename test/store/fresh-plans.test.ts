import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, createTestDatabase } from '../support/postgres.js';

let sql: ReturnType<typeof connect>;
beforeAll(async () => {
  sql = connect((await createTestDatabase()).url, { max: 1 });
  await sql`SET plan_cache_mode = force_generic_plan`;
  await sql`SET enable_seqscan = off`;
});
afterAll(() => sql.end());

/** The index of a plan for any parameters. */
async function indexOf(table: string, ...columns: string[]): Promise<string | undefined> {
  const where = columns.map((column, i) => `${column} = $${i + 1}`).join(' AND ');
  await sql.unsafe(`PREPARE lookup AS SELECT * FROM ${table} WHERE ${where}`);
  const rows = await sql.unsafe(`EXPLAIN EXECUTE lookup (${columns.map(() => 'NULL').join(', ')})`);
  await sql.unsafe('DEALLOCATE lookup');
  const plan = rows.map((row) => row['QUERY PLAN'] as string).join('\n');
  return /Filter:/.test(plan) ? plan : /Index (?:Only )?Scan (?:using|on) (\w+)/.exec(plan)?.[1];
}

// The first import after the first start reads a thousand tasks by their ids, before anything has been counted.
test.each([
  ['task', ['project', 'id'], 'task_project_id_pk'],
  ['task_state', ['project', 'task_id'], 'task_state_project_task_id_pk'],
  ['dependency', ['project', 'task_id'], 'dependency_project_task_id_blocker_id_pk'],
  ['dependency', ['project', 'blocker_id'], 'dependency_blocker'],
  ['lease', ['project', 'id'], 'lease_project_id_pk'],
  ['lease', ['project', 'task_id', 'fencing_token'], 'lease_token'],
  ['queue', ['project', 'task_id'], 'queue_project_task_id_pk'],
  ['note', ['project', 'task_id'], 'note_project_task_id_seq_pk'],
  ['event', ['project', 'task_id'], 'event_task'],
  ['execution', ['project', 'principal', 'id'], 'execution_project_principal_id_pk'],
])('in a fresh database, %s is looked up by %j with its own index', async (table, columns, index) => {
  expect(await indexOf(table, ...columns)).toBe(index);
});
