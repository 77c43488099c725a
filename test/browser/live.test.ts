import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { Holdfast } from '@holdfast/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Cli } from '../cli/holdfast-process.js';
import { createTestDatabase } from '../support/postgres.js';
import { newServerFolder, ServerProcess } from '../support/server-process.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeInBrowser, keepPicture, visit } from './chromium.js';
import { startSwitchingProxy } from './switching-proxy.js';

let cli: Cli;
beforeAll(() => {
  cli = new Cli();
});
afterAll(() => cli.remove());

async function taskOf(holdfast: Holdfast, title: string): Promise<string> {
  const { task } = await holdfast.tasks.createTask({ title, executionId: 'e' });
  return task?.id ?? '';
}

async function grant(agent: Holdfast, taskId: string, ttlMs: number) {
  const { executionId } = agent;
  const { outcome } = await agent.leases.acquireLease({ taskId, executionId, ttl: durationFromMs(ttlMs) });
  if (outcome.case !== 'grant' || !outcome.value.lease) throw new Error('not granted');
  return { leaseId: outcome.value.lease.id, fencingToken: outcome.value.lease.fencingToken };
}

async function agentOf(service: TestService, name: string): Promise<Holdfast> {
  return service.client(await service.token('AGENT', 'agent', name), `${name}-run`);
}

describeInBrowser('the dashboard, live', { timeout: 90_000 }, () => {
  it('shows the race of the demo, the expiry, the takeover and the late write, to whoever looks already', async () => {
    const service = await startTestService();
    const page = await visit(service.url, {
      token: service.ownerToken,
      hash: '#/p/default/timeline',
      reducedMotion: 'reduce',
      viewport: { width: 1280, height: 640 },
    });
    await page.getByText('Nobody has held a task yet').waitFor();
    const { code, stdout } = await cli.run('demo', '--against', service.url, '--token', service.ownerToken);
    expect(stdout).toContain('All as told.');
    expect(code).toBe(0);

    const lanes = page.locator('.lane-name strong');
    await page.locator('[data-mark=rejected]').waitFor();
    expect((await lanes.allTextContents()).sort()).toEqual(['ada', 'ben']);
    expect(await page.locator('[data-mark=refused]').count()).toBe(1);
    // It bounced off the winner's lease.
    expect(await page.locator('.bounce-refused').count()).toBe(1);
    expect(await page.locator('a.bar[data-end=expired]').count()).toBe(1);
    expect(await page.locator('a.bar[data-end=completed]').count()).toBe(2);
    expect(await page.locator('a.bar .begin.taken').count()).toBe(1);
    expect(await page.locator('.succession').count()).toBe(1);
    await page
      .getByText(/was refused STALE_LOCK; \w+ holds it/)
      .first()
      .waitFor();
    await keepPicture(page, 'race');

    // A bar leads to its task.
    await page.locator('a.bar[data-end=expired]').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Write the changelog' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('aside.panel').waitFor({ state: 'detached' });
  });

  it('changes the card of a task within a second of its takeover', async () => {
    const service = await startTestService();
    const [ada, ben] = [await agentOf(service, 'ada'), await agentOf(service, 'ben')];
    const taskId = await taskOf(ada, 'Write the changelog');
    const page = await visit(service.url, { token: service.ownerToken });
    await page.locator(`.column-ready [data-card="${taskId}"]`).waitFor();
    const proof = await grant(ada, taskId, 3_000);
    await ada.tasks.addNote({ taskId, text: 'halfway', proof, executionId: 'ada-run' });
    const card = page.locator(`.column-progress [data-card="${taskId}"]`);
    await card.getByText('ada').waitFor();
    await card.getByText('halfway').waitFor();
    // Nobody renews it: it runs out, and the task is ready again.
    await page.locator(`.column-ready [data-card="${taskId}"]`).waitFor();

    await grant(ben, taskId, 60_000);
    const granted = performance.now();
    await card.getByText('ben').waitFor();
    expect(performance.now() - granted).toBeLessThan(1_000);
    await card.getByText('attempt 2').waitFor();
    await card.getByText(/^0:5\d$/).waitFor();
  });

  it('reconnects to a server that was killed, and shows what happened meanwhile', async () => {
    const database = await createTestDatabase();
    const folder = newServerFolder();
    const start = () => ServerProcess.start({ dataDir: folder, databaseUrl: database.url });
    const first = await start();
    const proxy = await startSwitchingProxy(first.url);
    const owner = first.client(first.ownerToken, 'owner-run');
    const known = await taskOf(owner, 'Known before');
    const page = await visit(proxy.url, { token: first.ownerToken });
    await page.locator(`.column-ready [data-card="${known}"]`).waitFor();
    await page.evaluate("document.body.dataset.same = 'page'");

    await first.end('SIGKILL');
    await page.locator('[data-state=reconnecting]').waitFor();
    expect(await page.locator('[data-state=reconnecting]').textContent()).toMatch(/trying again/);

    const second = await start();
    const meanwhile = second.client(second.ownerToken, 'owner-run');
    const fresh = await taskOf(meanwhile, 'Created while it was away');
    await grant(meanwhile, known, 60_000);
    proxy.switchTo(second.url);
    await page.locator('[data-state=live][data-behind="0"]').waitFor();
    await page.locator(`.column-ready [data-card="${fresh}"]`).waitFor();
    await page.locator(`.column-progress [data-card="${known}"]`).getByText('owner').waitFor();
    expect(await page.evaluate('document.body.dataset.same')).toBe('page');
  });
});
