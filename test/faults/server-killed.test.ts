import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHoldfast } from '@holdfast/client';
import { expect, test } from 'vitest';
import { brokenRules } from '../support/history-audit.js';
import { connect } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { Workload } from './workload.js';

const KILLS = process.env.HOLDFAST_TEST_LONG === '1' ? 20 : 2;

/** The pid that the embedded Postgres has written into its data folder. */
const postgresPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

test.each([
  ['server', (server: ServerProcess) => server.end('SIGKILL')],
  [
    'server and its Postgres',
    async (server: ServerProcess, dataDir: string) => {
      process.kill(postgresPid(dataDir), 'SIGKILL');
      await server.end('SIGKILL');
    },
  ],
] as const)(
  'kill -9 of the %s loses nothing that was acknowledged, and leaves no lease half made',
  async (_, kill) => {
    const dataDir = newServerFolder();
    const start = () => ServerProcess.start({ dataDir, settings: { LOCK_ENFORCEMENT: 'enforce' } });
    let server = await start();
    const token = server.ownerToken;
    // Restarted, it listens elsewhere.
    const work = new Workload((executionId) =>
      createHoldfast({ url: server.url, token, executionId, attempts: 1 }),
    );
    work.start(6);
    for (let i = 0; i < KILLS; i++) {
      const before = work.acknowledged.notes.length;
      await expect
        .poll(() => work.acknowledged.notes.length, { timeout: 20_000 })
        .toBeGreaterThan(before + 10);
      await sleep(Math.random() * 200);
      await kill(server, dataDir);
      server = await start();
      expect(server.ownerToken).toBe(token);
    }
    await work.finish();
    const sql = connect(server.databaseUrl, { max: 1 });
    await work.check(sql);
    await sql.end();
    expect(await brokenRules(server.databaseUrl)).toEqual([]);
    expect(server.log.filter((line) => line.includes('"level":50'))).toEqual([]);
    await server.end('SIGTERM');
  },
  180_000,
);
