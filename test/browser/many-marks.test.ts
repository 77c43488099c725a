import { expect, it } from 'vitest';
import { startTestService } from '../support/service.js';
import { describeInBrowser, visit } from './chromium.js';

describeInBrowser('many marks on the timeline', { timeout: 60_000 }, () => {
  it('are drawn as few, which say how many they are', async () => {
    const service = await startTestService();
    const ada = service.client(await service.token('AGENT', 'agent', 'ada'), 'ada-run');
    const about = { executionId: 'ada-run' };
    const { task } = await ada.tasks.createTask({ title: 'Talk much', ...about });
    const taskId = task?.id ?? '';
    const { outcome } = await ada.leases.acquireLease({ taskId, ...about });
    if (outcome.case !== 'grant') throw new Error('not granted');
    const { id: leaseId = '', fencingToken = 0n } = outcome.value.lease ?? {};
    const proof = { leaseId, fencingToken };
    const text = (n: number) => `step ${n}`;
    for (let n = 0; n < 300; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, k) =>
          ada.tasks.addNote({ taskId, text: text(n + k), proof, ...about }),
        ),
      );
    }
    const page = await visit(service.url, { token: service.ownerToken, hash: '#/p/default/timeline' });
    const drawn = async () =>
      (await page.evaluate(
        '[...document.querySelectorAll("a.mark[data-mark=note]")].map((mark) => [Number(mark.dataset.count), mark.ariaLabel])',
      )) as [number, string][];
    await expect
      .poll(async () => (await drawn()).reduce((sum, [count]) => sum + count, 0), { timeout: 20_000 })
      .toBe(300);
    const several = (await drawn()).filter(([count]) => count > 1);
    expect(several.length).toBeGreaterThan(0);
    for (const [count, label] of several) expect(label).toContain(`the newest of ${count} like it since`);
  });
});
