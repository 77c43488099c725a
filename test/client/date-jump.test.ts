import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { createRouterTransport } from '@connectrpc/connect';
import { createHoldfast, type HeldLease, withLease } from '@holdfast/client';
import { LeaseService } from '@holdfast/proto/lease';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.restoreAllMocks());

/** Works under a lease of an hour, by the machine's real clocks. */
function underLease(work: (held: HeldLease) => Promise<unknown>): Promise<unknown> {
  const hour = { ttl: durationFromMs(3_600_000), remaining: durationFromMs(3_600_000) };
  const lease = { id: 'lease-1', taskId: 'task-1', fencingToken: 1n, ...hour };
  const transport = createRouterTransport(({ service }) => {
    service(LeaseService, {
      acquireLease: () => ({ outcome: { case: 'grant', value: { lease, task: { id: 'task-1' } } } }),
      renewLease: () => new Promise(() => {}),
      releaseLease: () => ({}),
    });
  });
  return withLease(createHoldfast({ url: '', token: '', transport }), { taskId: 'task-1' }, work);
}

function setDate(byMs: number): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
}

it('work stops within moments of waking when the date says that the deadline has passed', async () => {
  await underLease(async (held) => {
    setDate(3_500_000);
    await new Promise((resolve) => held.signal.addEventListener('abort', resolve));
    expect(held.signal.reason).toMatchObject({ name: 'LeaseLost', kind: 'unconfirmed' });
    await expect(held.addNote('late')).rejects.toBe(held.signal.reason);
  });
});

it('a write notices it before any timer does', async () => {
  await underLease(async (held) => {
    setDate(3_500_000);
    expect(() => held.throwIfUnsafe()).toThrow('not confirmed in time');
  });
});

it('a date that is set back keeps nobody working: the monotonic clock still counts', async () => {
  const { now } = performance;
  await underLease(async (held) => {
    setDate(-86_400_000);
    held.throwIfUnsafe();
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 3_500_000);
    expect(() => held.throwIfUnsafe()).toThrow('not confirmed in time');
  });
});
