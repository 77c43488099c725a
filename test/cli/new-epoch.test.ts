import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WriteRejected } from '@holdfast/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent, type Held } from '../support/agent.js';
import { createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { Cli } from './holdfast-process.js';

let cli: Cli;
beforeAll(() => {
  cli = new Cli();
});
afterAll(() => cli?.remove());

const owner = (server: ServerProcess) => new Agent(server.client(server.ownerToken, 'desk'));

/** A lease of the owner's, whatever the server. */
async function held(server: ServerProcess): Promise<Held> {
  const agent = owner(server);
  return agent.acquire(await agent.createTask());
}

async function expectStale(server: ServerProcess, proof: Held): Promise<void> {
  const error = await owner(server)
    .complete(proof)
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(WriteRejected);
  expect((error as WriteRejected).code).toBe('STALE_LOCK');
}

describe('holdfast admin new-epoch', () => {
  it('works on DATABASE_URL, but not while a server does', { timeout: 60_000 }, async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const options = { dataDir: newServerFolder(), databaseUrl, settings: { LOCK_ENFORCEMENT: 'enforce' } };
    const server = await ServerProcess.start(options);
    const proof = await held(server);
    const command = ['admin', 'new-epoch', '--database-url', databaseUrl];
    expect(await cli.run(...command, '--yes')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: A server uses this database. Stop all that do, then try again.\n',
    });
    await owner(server).renew(proof);
    await server.end('SIGTERM');

    expect(await cli.run(...command)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: nobody is there to be asked; give --yes\n',
    });
    const { code, stdout, stderr } = await cli.run(...command, '--yes', '--json');
    expect([code, stderr]).toEqual([0, '']);
    const done = JSON.parse(stdout);
    expect(done).toMatchObject({ projects: 1, tasks: 1, keys: 0, revoked: 1, expired: 0 });
    expect(done.epoch).not.toBe(done.previousEpoch);

    const again = await ServerProcess.start(options);
    await expectStale(again, proof);
    const next = await owner(again).acquire(proof.taskId);
    expect(next.fencingToken).toBeGreaterThan(BigInt(done.countersFrom));
    await owner(again).complete(next);
    await again.end('SIGTERM');
    const text = await cli.run(...command, '--yes');
    expect(text.stdout).toMatch(
      /^A new epoch has begun in the database of DATABASE_URL\.\n\nepoch +\S+, before it \S+\n/,
    );
    expect(text.stdout).toContain(done.epoch);
    expect(text.stdout + text.stderr).not.toContain(databaseUrl);
  });

  it('works on the embedded database of a data folder, but not while a server does', {
    timeout: 120_000,
  }, async () => {
    const dataDir = newServerFolder();
    const options = { dataDir, settings: { LOCK_ENFORCEMENT: 'enforce' } };
    const server = await ServerProcess.start(options);
    const proof = await held(server);
    const command = ['admin', 'new-epoch', '--data', dataDir, '--yes', '--json'];
    const refused = await cli.run(...command);
    expect([refused.code, JSON.parse(refused.stderr).error.message]).toEqual([
      1,
      'A server uses this database. Stop all that do, then try again.',
    ]);
    await owner(server).renew(proof);
    await server.end('SIGTERM');
    expect(await cli.run(...command)).toMatchObject({ code: 0, stderr: '' });
    const again = await ServerProcess.start(options);
    await expectStale(again, proof);
    await again.end('SIGTERM');
  });

  it('makes no database where there is none', async () => {
    const folder = join(cli.folder, 'nothing-here');
    const { code, stderr } = await cli.run('admin', 'new-epoch', '--data', folder, '--yes');
    expect([code, existsSync(folder)]).toEqual([2, false]);
    expect(stderr).toContain(`There is no database in ${folder}.`);
  });
});
