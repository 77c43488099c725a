import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from '@connectrpc/connect';
import { createHoldfast, Refused, withLease } from '@holdfast/client';
import { type AcquireNextTaskRequest, LeaseService, RefusalReason } from '@holdfast/proto/lease';
import { describe, expect, it } from 'vitest';

const grant = {
  lease: {
    id: 'lease-1',
    taskId: 'task-1',
    fencingToken: 3n,
    ttl: durationFromMs(60_000),
    remaining: durationFromMs(60_000),
  },
  task: { id: 'task-1', title: 'Write the parser' },
};

function server(leases: Partial<ServiceImpl<typeof LeaseService>>) {
  const calls: string[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(LeaseService, {
      acquireLease: (request) => {
        calls.push(`acquire ${request.taskId} as ${request.executionId}`);
        return { outcome: { case: 'grant' as const, value: grant } };
      },
      releaseLease: ({ leaseId, fencingToken, note }) => {
        calls.push(`release ${leaseId} ${fencingToken} ${note}`.trimEnd());
        return {};
      },
      ...leases,
    });
  });
  const options = { url: 'http://localhost', token: 'hf_test', executionId: 'run-1', transport };
  return { holdfast: createHoldfast(options), calls };
}

describe('withLease', () => {
  it('gives the work the task and its proof, and releases afterwards', async () => {
    const { holdfast, calls } = server({});
    const result = await withLease(holdfast, { taskId: 'task-1' }, async (held) => {
      calls.push(`work on ${held.task.title}`);
      expect(held.proof).toMatchObject({ leaseId: 'lease-1', fencingToken: 3n });
      held.releaseNote = 'half done';
      return 42;
    });
    expect(result).toBe(42);
    expect(calls).toEqual([
      'acquire task-1 as run-1',
      'work on Write the parser',
      'release lease-1 3 half done',
    ]);
  });

  it('releases when the work throws, and throws what the work threw', async () => {
    const { holdfast, calls } = server({});
    const work = async () => {
      throw new Error('out of ideas');
    };
    await expect(withLease(holdfast, { taskId: 'task-1' }, work)).rejects.toThrow('out of ideas');
    expect(calls).toContain('release lease-1 3');
  });

  it('tells of a release that failed without hiding what the work returned', async () => {
    const { holdfast } = server({
      releaseLease: () => {
        throw new ConnectError('away', Code.Unavailable);
      },
    });
    const failures: unknown[] = [];
    const onReleaseFailed = (error: unknown) => failures.push(error);
    await expect(withLease(holdfast, { taskId: 'task-1' }, async () => 1, { onReleaseFailed })).resolves.toBe(
      1,
    );
    expect(failures).toEqual([expect.objectContaining({ code: Code.Unavailable })]);
  });

  it('stops the work and does not release what the server said is lost', async () => {
    const { holdfast, calls } = server({
      acquireLease: () => ({ outcome: { case: 'grant', value: shortGrant(1_000) } }),
      renewLease: () => {
        throw new ConnectError('the lease is over', Code.FailedPrecondition);
      },
    });
    const work = (held: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        held.signal.addEventListener('abort', () => reject(held.signal.reason));
      });
    await expect(withLease(holdfast, { taskId: 'task-1' }, work)).rejects.toMatchObject({ kind: 'lost' });
    expect(calls).toEqual([]);
  });

  it('throws the refusal and runs no work', async () => {
    const refusal = { reason: RefusalReason.HELD, advice: 'Take another.' };
    const { holdfast } = server({ acquireLease: () => ({ outcome: { case: 'refusal', value: refusal } }) });
    const work = () => expect.unreachable();
    const refused = withLease(holdfast, { taskId: 'task-1' }, work);
    await expect(refused).rejects.toBeInstanceOf(Refused);
    await expect(refused).rejects.toMatchObject({ refusal: { advice: 'Take another.' } });
  });

  it('asks again for a held task after the time that the server names, while it may wait', async () => {
    const refusal = { reason: RefusalReason.HELD, retryAfter: durationFromMs(20) };
    let asked = 0;
    const { holdfast } = server({
      acquireLease: () =>
        ++asked === 1
          ? { outcome: { case: 'refusal', value: refusal } }
          : { outcome: { case: 'grant', value: grant } },
    });
    await withLease(holdfast, { taskId: 'task-1' }, async () => {}, { waitMs: 5_000 });
    expect(asked).toBe(2);
  });

  it('lets the server hold a call for the next task, and each call has its own request id', async () => {
    const requests: AcquireNextTaskRequest[] = [];
    const { holdfast } = server({
      acquireNextTask: (request) => {
        requests.push(request);
        return requests.length === 1
          ? { outcome: { case: 'refusal', value: { reason: RefusalReason.NOTHING_READY } } }
          : { outcome: { case: 'grant', value: grant } };
      },
    });
    const wanted = { next: { labels: ['backend'] } };
    await withLease(holdfast, wanted, async () => {}, { waitMs: 90_000, ttlMs: 30_000 });
    expect(requests.map(({ wait }) => wait?.seconds)).toEqual([50n, 50n]);
    expect(requests[0]).toMatchObject({ labels: ['backend'], ttl: { seconds: 30n } });
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(2);
  });

  it('learns anew how long the lease lives when the grant was long in coming', async () => {
    let renewals = 0;
    const { holdfast } = server({
      acquireNextTask: async () => {
        await new Promise((resolve) => setTimeout(resolve, 800));
        return { outcome: { case: 'grant', value: shortGrant(1_000) } };
      },
      renewLease: () => {
        renewals++;
        return { lease: shortGrant(1_000).lease };
      },
    });
    await withLease(holdfast, { next: {} }, async (held) => held.throwIfUnsafe(), { waitMs: 1_000 });
    expect(renewals).toBe(1);
  });

  it('stops a call that the server holds when it is told to', async () => {
    const stop = new AbortController();
    const { holdfast } = server({
      acquireNextTask: (_request, { signal }) => {
        stop.abort(new Error('enough'));
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    });
    const options = { waitMs: 60_000, signal: stop.signal };
    await expect(withLease(holdfast, { next: {} }, async () => {}, options)).rejects.toThrow('enough');
  });

  it('stops waiting when it is told to', async () => {
    const refusal = { reason: RefusalReason.HELD, retryAfter: durationFromMs(60_000) };
    const { holdfast } = server({ acquireLease: () => ({ outcome: { case: 'refusal', value: refusal } }) });
    const stop = new AbortController();
    const options = { waitMs: 60_000, signal: stop.signal };
    const waiting = withLease(holdfast, { taskId: 'task-1' }, async () => {}, options);
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(waiting).rejects.toThrow('enough');
  });
});

function shortGrant(ttlMs: number) {
  const lifetime = { ttl: durationFromMs(ttlMs), remaining: durationFromMs(ttlMs) };
  return { ...grant, lease: { ...grant.lease, ...lifetime } };
}
