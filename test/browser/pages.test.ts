import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Enforcement } from '@holdfast/proto/guard';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { describeInBrowser, keepPicture, visit } from './chromium.js';

let service: TestService;
let memberToken: string;
let viewerToken: string;
let heldId: string;

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  memberToken = await service.token('PERSON', 'member', 'mia');
  viewerToken = await service.token('PERSON', 'viewer', 'vera');
  const owner = service.client(service.ownerToken, 'owner-run');
  const agent = service.client(await service.token('AGENT', 'agent', 'ada'), 'ada-run');
  const made = await owner.tasks.importTasks({
    tasks: [
      {
        externalKey: 'a',
        title: 'Collect the changes',
        plan: 'p',
        planTitle: 'Release 1.0',
        labels: ['docs'],
      },
      { externalKey: 'b', title: 'Write the changelog', plan: 'p', blockedBy: ['a'] },
      { externalKey: 'c', title: HOSTILE, body: HOSTILE, plan: 'p', priority: 3 },
      { externalKey: 'd', title: 'Build the packages', plan: 'p', priority: 2 },
    ],
  });
  heldId = made.results[3]?.taskId ?? '';
  const { outcome } = await agent.leases.acquireLease({ taskId: heldId, executionId: 'ada-run' });
  if (outcome.case !== 'grant') throw new Error('not granted');
  const { lease } = outcome.value;
  const proof = { leaseId: lease?.id ?? '', fencingToken: lease?.fencingToken ?? 0n };
  await agent.tasks.addNote({ taskId: heldId, text: HOSTILE, proof, executionId: 'ada-run' });
  const other = service.client(await service.token('AGENT', 'agent', 'ben'), 'ben-run');
  await other.leases.acquireLease({ taskId: heldId, executionId: 'ben-run' });
});

const board = async (token: string) => {
  const page = await visit(service.url, { token });
  await page.locator(`[data-card="${heldId}"]`).waitFor({ state: 'attached' });
  return page;
};

/** Opens the panel of the task that ada holds. */
const heldTask = async (token: string) => {
  const page = await visit(service.url, { token, hash: `#/p/default/task/${heldId}` });
  await page.locator('aside.panel').getByText('Build the packages').first().waitFor();
  return page;
};

describeInBrowser('the pages', { timeout: 60_000 }, () => {
  it('say by a strict policy that nothing comes from elsewhere, and keep hashed files for good', async () => {
    const answer = await fetch(service.url);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const script = /src="(\/assets\/[^"]+)"/.exec(await answer.text())?.[1] ?? '';
    const { headers } = await fetch(service.url + script);
    expect(headers.get('cache-control')).toContain('immutable');
    expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
      'nosniff',
      'no-referrer',
    ]);
    for (const path of ['/assets/../../package.json', '/assets/none.js', '/assets/%2e%2e/x']) {
      expect((await fetch(service.url + path)).status).toBe(404);
    }
  });

  it('show each task where it stands', async () => {
    const page = await board(service.ownerToken);
    const titles = (column: string) => page.locator(`.column-${column} .card-title`).allTextContents();
    expect(await titles('ready')).toEqual([HOSTILE, 'Collect the changes']);
    expect(await titles('progress')).toEqual(['Build the packages']);
    expect(await titles('blocked')).toEqual(['Write the changelog']);
    await page.getByText('waits for Collect the changes').waitFor();
    await page.getByRole('button', { name: 'Release 1.0 0/4' }).waitFor();
    await keepPicture(page, 'board');

    await page.keyboard.press('/');
    await page.keyboard.type('changelog');
    await expect.poll(() => page.locator('.card-title').allTextContents()).toEqual(['Write the changelog']);
  });

  it('leave a script in a title, a text or a note what it is: text', async () => {
    const page = await board(service.ownerToken);
    await page.locator('.column-ready [data-card]').first().click();
    await page.locator('aside.panel').getByText(HOSTILE).nth(1).waitFor();
    expect(await page.locator('#app img, #app script').count()).toBe(0);
    expect(await page.title()).toBe('Holdfast');
  });

  it('offer a viewer nothing that changes anything', async () => {
    const page = await heldTask(viewerToken);
    const panel = page.locator('aside.panel');
    await panel.getByText('ada').first().waitFor();
    expect(await panel.locator('button, input, textarea, select').count()).toBe(0);
    await page.keyboard.press('3');
    await page.getByRole('heading', { name: 'Enforcement' }).waitFor();
    expect(await page.locator('main').locator('button, input').count()).toBe(0);
  });

  it('tell a member who holds the task that was to be changed, and offer no override', async () => {
    const page = await heldTask(memberToken);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('The project enforces leases: the write will be refused.').waitFor();
    await page.getByLabel('Title').fill('Build everything');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('LOCKED_BY_OTHER: ada holds this task').waitFor();
    expect(await page.getByRole('button', { name: /Override|Force/ }).count()).toBe(0);
  });

  it('let an admin override with a reason, and take the lease away', async () => {
    const page = await heldTask(service.ownerToken);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Priority').fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Reason to override').fill('it is urgent');
    await page.getByRole('button', { name: 'Override' }).click();
    await page.getByText('owner overrode LOCKED_BY_OTHER with UpdateTask: it is urgent').waitFor();
    await page.locator('.column-progress').getByText('priority 5').waitFor();

    await page.getByRole('button', { name: 'Force-release' }).click();
    await page.getByLabel('Why the lease is taken away').fill('ada is gone');
    await page.locator('.form').getByRole('button', { name: 'Force-release' }).click();
    await page.getByText("owner took ada's lease away: ada is gone").waitFor();
    await page.locator(`.column-ready [data-card="${heldId}"]`).waitFor();
  });

  it('keep what was typed into a form while the task changes, and do not write over the change', async () => {
    const owner = service.client(service.ownerToken, 'owner-run');
    const { task } = await owner.tasks.createTask({ title: 'Shared', labels: ['a, b'], executionId: 'e' });
    const taskId = task?.id ?? '';
    const page = await visit(service.url, { token: memberToken, hash: `#/p/default/task/${taskId}` });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('Mine');
    await owner.tasks.updateTask({
      taskId,
      title: 'Theirs',
      executionId: 'e',
      updateMask: { paths: ['title'] },
    });
    await page.getByRole('heading', { name: 'Theirs' }).waitFor();
    expect(await page.getByLabel('Title').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('somebody else changed the task meanwhile').waitFor();

    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('Ours');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ours' }).waitFor();
    // Labels that nobody touched stay what they are, commas and all.
    expect((await owner.tasks.getTask({ taskId })).task?.labels).toEqual(['a, b']);
  });

  it('give the focus back to the card when a task is closed', async () => {
    const page = await board(viewerToken);
    await page.locator(`[data-card="${heldId}"]`).focus();
    await page.keyboard.press('Enter');
    await page.locator('aside.panel:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator(`[data-card="${heldId}"]:focus`).waitFor();
  });

  it("let a viewer clear the inbox, which is nobody else's", async () => {
    const open = await startTestService();
    const token = await open.token('PERSON', 'viewer', 'vera');
    const agent = open.client(await open.token('AGENT', 'agent', 'ada'), 'ada-run');
    const { task } = await agent.tasks.createTask({ title: 'Left behind', executionId: 'ada-run' });
    await agent.leases.acquireLease({
      taskId: task?.id ?? '',
      executionId: 'ada-run',
      ttl: durationFromMs(1_000),
    });
    const page = await visit(open.url, { token, hash: '#/p/default/attention' });
    await page.getByRole('button', { name: 'Mark as read' }).click();
    await page.getByText('Nothing unread.').waitFor();
    const { notifications } = await open.client(token).history.listNotifications({});
    expect(notifications).toEqual([]);
  });

  it('switch enforcement by a button, not by the arrow keys that choose', async () => {
    const open = await startTestService({ settings: { enforcement: 'OFF' } });
    const page = await visit(open.url, { token: open.ownerToken, hash: '#/p/default/attention' });
    const mode = async () => {
      const { project } = await open.client(open.ownerToken).projects.getProject({});
      return project?.effectiveSettings?.enforcement;
    };
    await page.getByRole('radio', { name: /^Off/, checked: true }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const button = page.getByRole('button', { name: 'Switch to ENFORCE' });
    await button.waitFor();
    expect(await mode()).toBe(Enforcement.OFF);
    await button.press('Enter');
    await page.getByText('The project is in ENFORCE now.').waitFor();
    expect(await mode()).toBe(Enforcement.ENFORCE);
    await button.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.checked')).toBe(true);
  });

  it.each(['light', 'dark'] as const)('have no serious fault that axe finds, %s', async (colorScheme) => {
    const page = await visit(service.url, {
      token: service.ownerToken,
      colorScheme,
      reducedMotion: 'reduce',
    });
    await page.locator('[data-state=live]').waitFor();
    await page.evaluate(axe.source);
    const seen = {
      board: '.card',
      timeline: 'a.bar',
      attention: '.mode.chosen',
      [`task/${heldId}`]: 'aside.panel .event',
    };
    for (const [name, mark] of Object.entries(seen)) {
      await page.evaluate(`location.hash = '#/p/default/${name}'`);
      await page.locator(mark).first().waitFor();
      if (name === 'timeline') await keepPicture(page, `timeline-${colorScheme}`);
      expect(await faults(page)).toEqual([]);
    }
  });

  it('zoom and pan the timeline by keyboard, back through the history and to the present again', async () => {
    const page = await visit(service.url, { token: viewerToken, hash: '#/p/default/timeline' });
    const bar = page.locator('a.bar').first();
    const now = page.getByRole('button', { name: 'Now' });
    await bar.waitFor();
    expect(await now.getAttribute('aria-pressed')).toBe('true');
    const widthBefore = (await bar.boundingBox())?.width ?? 0;
    await page.keyboard.press('-');
    await expect.poll(async () => (await bar.boundingBox())?.width ?? 0).toBeLessThan(widthBefore);
    for (let times = 0; times < 6; times++) await page.keyboard.press('ArrowRight');
    expect(await now.getAttribute('aria-pressed')).toBe('true');
    for (let times = 0; times < 6; times++) await page.keyboard.press('ArrowLeft');
    expect(await now.getAttribute('aria-pressed')).toBe('false');
    await page.getByText('No lease in this stretch of time').waitFor();
    await page.keyboard.press('n');
    await bar.waitFor();
  });

  it('fit a narrow screen', async () => {
    const page = await visit(service.url, {
      token: service.ownerToken,
      viewport: { width: 360, height: 720 },
    });
    for (const key of ['1', '2', '3']) {
      await page.keyboard.press(key);
      await page.locator('[data-state=live]').waitFor();
      await keepPicture(page, `narrow-${key}`);
      expect([key, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([key, 360]);
    }
  });
});

async function faults(page: Page): Promise<string[]> {
  const results = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as AxeResults;
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
