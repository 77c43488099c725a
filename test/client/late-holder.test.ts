import type { Holdfast } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { Holder, type HolderTask } from './holder.js';

let service: TestService;
let owner: Holdfast;
let token: string;
beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
  owner = service.client(service.ownerToken);
  token = await service.token('AGENT', 'agent', 'ada');
});
afterAll(() => service.stop());

async function hold(task: Partial<HolderTask>): Promise<{ holder: Holder; taskId: string }> {
  const { task: made } = await owner.tasks.createTask({ title: 'a task' });
  const taskId = made?.id ?? '';
  const holder = new Holder({ url: service.url, token, taskId, ttlMs: 1_500, meanwhile: 'wait', ...task });
  return { holder, taskId };
}

async function leaseState(taskId: string): Promise<string> {
  const { lease } = await owner.leases.getLease({ taskId });
  return LeaseState[lease?.state ?? 0] ?? '';
}

const expired = (taskId: string) =>
  vi.waitFor(async () => expect(await leaseState(taskId)).toBe('EXPIRED'), { timeout: 20_000, interval: 50 });

const notes = async (taskId: string) => (await owner.tasks.getTask({ taskId })).notes.map(({ text }) => text);

describe('a holder that comes late', () => {
  it('says lost before it sends a write, when its process was stopped past the deadline', async () => {
    const { holder, taskId } = await hold({});
    await holder.says();
    holder.child.kill('SIGSTOP');
    await expired(taskId);
    holder.goOn();
    holder.child.kill('SIGCONT');
    expect(await holder.says()).toEqual({
      write: { name: 'LeaseLost', kind: 'unconfirmed' },
      blind: { name: 'LockExpired', code: 'LOCK_EXPIRED' },
      reason: 'unconfirmed',
    });
    expect(await notes(taskId)).toEqual([]);
    // The blind one alone was sent.
    const { events } = await owner.history.listHistory({ taskId, kinds: [EventKind.WRITE_REJECTED] });
    expect(events.map(({ repeats }) => repeats)).toEqual([0]);
  });

  it('says lost before it sends a write, when somebody else took over meanwhile', async () => {
    const { holder, taskId } = await hold({});
    await holder.says();
    holder.child.kill('SIGSTOP');
    await expired(taskId);
    const bob = service.client(await service.token('AGENT', 'agent', 'bob'), 'run-1');
    await bob.leases.acquireLease({ taskId, executionId: 'run-1' });
    holder.goOn();
    holder.child.kill('SIGCONT');
    expect(await holder.says()).toMatchObject({
      write: { name: 'LeaseLost' },
      blind: { name: 'StaleLock', code: 'STALE_LOCK' },
    });
    expect(await notes(taskId)).toEqual([]);
  });

  it('says lost before it sends a write, when its event loop was blocked past the deadline', async () => {
    const { holder, taskId } = await hold({ meanwhile: 'block' });
    await holder.says();
    expect(await holder.says()).toMatchObject({
      write: { name: 'LeaseLost', kind: 'unconfirmed' },
      blind: { code: 'LOCK_EXPIRED' },
    });
    expect(await notes(taskId)).toEqual([]);
  });
});

describe('a holder whose process is asked to end', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gives its lease back and ends by %s', async (signal) => {
    const { holder, taskId } = await hold({ ttlMs: 600_000 });
    expect(await holder.says()).toEqual({ holding: true, listeners: 1 });
    holder.child.kill(signal);
    expect(await holder.ended).toEqual([null, signal]);
    expect(await leaseState(taskId)).toBe('RELEASED');
  });

  it('leaves the signals alone when it holds nothing any more', async () => {
    const { holder, taskId } = await hold({ ttlMs: 600_000 });
    await holder.says();
    holder.goOn();
    await holder.says();
    expect(await holder.says()).toEqual({ listeners: 0 });
    expect(await holder.ended).toEqual([0, null]);
    expect(await leaseState(taskId)).toBe('RELEASED');
  });
});
