import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { watch } from '@holdfast/client';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { readMetrics } from '../support/metrics.js';
import { startTestService } from '../support/service.js';
import { describeInBrowser, visit } from './chromium.js';

/** As if another tab came before this one, or this one came back. */
const show = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

describeInBrowser('a tab out of sight', { timeout: 60_000 }, () => {
  it('lets go of its stream, and when it is seen again shows all that happened, and is live', async () => {
    const service = await startTestService();
    const streams = async () => (await readMetrics(service.url)).holdfast_watches;
    const ada = service.client(await service.token('AGENT', 'agent', 'ada'), 'ada-run');
    const taskOf = async (title: string) =>
      (await ada.tasks.createTask({ title, executionId: 'ada-run' })).task?.id ?? '';
    const hold = async (taskId: string, seconds: number) => {
      const ttl = durationFromMs(seconds * 1_000);
      const { outcome } = await ada.leases.acquireLease({ taskId, executionId: 'ada-run', ttl });
      if (outcome.case !== 'grant' || !outcome.value.lease) throw new Error('not granted');
      return { leaseId: outcome.value.lease.id, fencingToken: outcome.value.lease.fencingToken };
    };
    const renewed = await taskOf('Held before');
    const proof = await hold(renewed, 600);
    const page = await visit(service.url, { token: service.ownerToken });
    const held = page.locator(`.column-progress [data-card="${renewed}"]`);
    await held.getByText(/^(10:00|9:\d\d)$/).waitFor();
    expect(await streams()).toBe(1);
    await page.evaluate("document.body.dataset.same = 'page'");

    await page.clock.install();
    await show(page, 'hidden');
    await page.clock.fastForward(31_000);
    await page.locator('[data-state=resting]').waitFor();
    await expect.poll(streams).toBe(0);

    const fresh = await taskOf('Created out of sight');
    await hold(fresh, 600);
    // The history does not tell renewals, and streams are told of them only once.
    for await (const news of watch(ada)) {
      if (news.kind === 'snapshot') await ada.leases.renewLease({ ...proof, ttl: durationFromMs(3_600_000) });
      if (news.kind === 'renewed') break;
    }
    await expect.poll(streams).toBe(0);
    await show(page, 'visible');
    await page.locator('[data-state=live][data-behind="0"]').waitFor();
    await expect.poll(streams).toBe(1);
    await held.getByText(/^(1:00:00|59:\d\d)$/).waitFor();
    await page
      .locator(`.column-progress [data-card="${fresh}"]`)
      .getByText(/^(10:00|9:\d\d)$/)
      .waitFor();

    const later = await taskOf('Created in sight');
    await page.locator(`.column-ready [data-card="${later}"]`).waitFor();
    expect(await page.evaluate('document.body.dataset.same')).toBe('page');
  });
});
