import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHoldfast } from '@holdfast/client';
import { EventKind } from '@holdfast/proto/history';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeSignInCode } from '../../src/sign-in-codes.js';
import { createTestDatabase } from '../support/postgres.js';
import { lineWith, noTraces, TracedCli } from './demo-traces.js';
import { Cli } from './holdfast-process.js';

const redeem = (url: string, code: string) =>
  fetch(`${url}/sign-in`, { method: 'POST', body: JSON.stringify({ code }) });

describe('holdfast serve', { timeout: 60_000 }, () => {
  it('prints a link that signs the owner in once, whichever worker is asked', async () => {
    const cli = new Cli({ DATABASE_URL: (await createTestDatabase()).url, LOG_LEVEL: 'silent' });
    const { child, outcome } = cli.start('serve', '--port', '0', '--workers', '2');
    try {
      const [, url = '', code = ''] =
        /(http\S+)\/#\/sign-in\/(\S+)/.exec(await lineWith(child, 'sign-in')) ?? [];
      const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(url, code)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
    } finally {
      child.kill('SIGTERM');
      await outcome;
      cli.remove();
    }
  });
});

describe('holdfast dashboard', { timeout: 30_000 }, () => {
  let cli: Cli;
  beforeAll(() => {
    cli = new Cli();
  });
  afterAll(() => cli.remove());

  it('says so when no server keeps its data there', async () => {
    const { code, stderr } = await cli.run('dashboard');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Give its data folder with --data.')]);
  });

  it('prints a link with a new code', async () => {
    writeFileSync(join(cli.folder, 'admin-token'), 'hf_x\n');
    const { stdout } = await cli.run('dashboard', '--url', 'https://board.example.com/', '--json');
    const { link } = JSON.parse(stdout) as { link: string };
    expect(link).toMatch(/^https:\/\/board\.example\.com\/#\/sign-in\/[\w-]{43}$/);
    expect(await takeSignInCode(cli.folder, link.split('/').at(-1) ?? '')).toBe(true);
  });
});

describe('holdfast demo --serve', { timeout: 90_000 }, () => {
  it('lets visitors look at agents at work, and leaves nothing behind', async () => {
    const cli = new TracedCli();
    const { child, outcome } = cli.start('demo', '--serve', '--port', '0', '--json');
    const { url } = JSON.parse(await lineWith(child, '"url"')) as { url: string };
    const asked = await fetch(`${url}/sign-in`, { method: 'POST', body: '{"visitor":true}' });
    const { token } = (await asked.json()) as { token: string };
    const visitor = createHoldfast({ url, token });
    const kinds = [EventKind.LEASE_ACQUIRED, EventKind.TASK_COMPLETED];
    const seen = async () => (await visitor.history.listHistory({ kinds })).events.map(({ kind }) => kind);
    await expect.poll(seen, { timeout: 60_000, interval: 200 }).toEqual(expect.arrayContaining(kinds));
    await expect(visitor.tasks.createTask({ title: 'mine' })).rejects.toThrow('permission_denied');
    visitor.close();
    child.kill('SIGTERM');
    expect((await outcome).code).toBe(143);
    expect(cli.traces()).toEqual(noTraces);
    cli.remove();
  });

  it('has no use for another server', async () => {
    const cli = new Cli();
    expect((await cli.run('demo', '--serve', '--against', 'http://localhost:1')).code).toBe(2);
    cli.remove();
  });
});
