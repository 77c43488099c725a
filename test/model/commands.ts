import { Enforcement, LeaseState, WriteCode } from '@holdfast/proto/guard';
import { RefusalReason } from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import fc from 'fast-check';
import { expect } from 'vitest';
import { failureOf, leaseAnswer, modelLease, modelTask, taskAnswer } from './answers.js';
import { command, tick } from './command.js';
import { acquire, endExecution, forceRelease, release, renew, renewExecution, requeue } from './leases.js';
import {
  type AcquireCall,
  fail,
  type Model,
  type ModelLease,
  type ModelTask,
  type Proof,
  type Who,
} from './model.js';
import { CALLERS, durationOf, KEYS, type System } from './system.js';
import { type Write, write } from './writes.js';

const SECOND = 1_000_000;
const anybody = fc.constantFrom(...CALLERS);
/** Often the same one: what a regrant inherits shows only then. */
const anExecution = fc.oneof(
  { weight: 1, arbitrary: fc.constant(CALLERS[0] as Who) },
  { weight: 2, arbitrary: fc.constantFrom(...CALLERS.filter(({ execution }) => execution !== '')) },
);
const aKey = fc.constantFrom(...KEYS);
const aTtl = fc.constantFrom(0, 0, SECOND, 2.5 * SECOND, 20 * SECOND, 500 * SECOND);
/** Mostly the right one. */
const aShift = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 1) },
);
/** Counts back from the newest, over all tasks: small numbers are the interesting ones. */
const aLease = fc.nat({ max: 6 });

const pick = (model: Model, back: number): ModelLease | undefined => model.leases.at(-1 - back);

/** The task with a key, or the last one that had it. */
const taskOf = (model: Model, key: string): ModelTask =>
  model.everyTask.findLast((task) => task.key === key) ?? expect.fail('every key had a task');

const optional = <K extends string, V>(key: K, value: V | undefined | '' | 0): { [k in K]?: V } =>
  (value ? { [key]: value } : {}) as { [k in K]?: V };

/** One acquire, and whether its answer is the expected one. */
async function acquireAs(
  { task, who, ttl, requestId }: AcquireCall,
  model: Model,
  real: System,
): Promise<void> {
  const expected = acquire(model, { task, who, ttl, requestId });
  const answer = await real
    .as(who)
    .leases.acquireLease({
      taskId: task.id,
      executionId: who.execution,
      requestId,
      ...optional('ttl', ttl && durationOf(ttl)),
    })
    .catch(failureOf);
  if ('error' in answer || 'error' in expected) {
    expect(answer).toEqual(expected);
    return;
  }
  if (answer.outcome.case === 'grant') {
    const { lease, renewed, task: told, continuation } = answer.outcome.value;
    if (!('granted' in expected)) return expect(answer.outcome.value).toEqual(expected);
    const { granted } = expected;
    granted.id ||= lease?.id ?? '';
    expect(leaseAnswer(lease)).toEqual(modelLease(model, granted));
    expect(renewed).toBe(expected.renewed);
    expect(taskAnswer(told)).toEqual(modelTask(model, granted.task));
    const before = granted.task.previous;
    expect({
      attempt: continuation?.attempt,
      holder:
        continuation?.previousHolder &&
        `${continuation.previousHolder.principal}/${continuation.previousHolder.executionId}`,
      end: LeaseState[continuation?.previousEnd ?? 0],
      note: continuation?.notes[0]?.text,
    }).toEqual({
      attempt: granted.attempt,
      holder: before && `${before.principal}/${before.execution}`,
      end: before?.end ?? 'UNSPECIFIED',
      note: granted.task.lastNote,
    });
    return;
  }
  const refusal = answer.outcome.value ?? expect.fail('neither a grant nor a refusal');
  expect({
    refused: RefusalReason[refusal.reason],
    ...(refusal.holder && { holder: `${refusal.holder.principal}/${refusal.holder.executionId}` }),
    ...(refusal.taskStatus && { status: TaskStatus[refusal.taskStatus] }),
    ...(refusal.endedLease && { lease: leaseAnswer(refusal.endedLease) }),
  }).toEqual({
    ...expected,
    ...('lease' in expected && expected.lease && { lease: modelLease(model, expected.lease) }),
  });
  if (refusal.reason === RefusalReason.HELD) expect(refusal.retryAfter).toBeDefined();
  expect(refusal.advice).not.toBe('');
}

const acquireTask = command(
  'acquire',
  fc.record({
    key: aKey,
    who: anExecution,
    ttl: aTtl,
    requestId: fc.constantFrom('', '', '', 'r1', 'r2', 'r3'),
  }),
  ({ key, ...call }, model, real) => acquireAs({ ...call, task: taskOf(model, key) }, model, real),
);

/** The answer was lost, and the client asks again, now or much later. */
const retryAcquire = command('acquire again', fc.nat({ max: 3 }), async (back, model, real) => {
  const applied = [...model.remembered.values()].at(-1 - back);
  if (applied) await acquireAs(applied.call, model, real);
});

const byLease = fc.record({
  back: aLease,
  who: anybody,
  own: fc.boolean(),
  shift: aShift,
  ttl: aTtl,
  text: fc.constantFrom('', 'so far'),
});

/** Whoever asks, or, to make it succeed more often, the holder itself. */
const asker = (lease: ModelLease, who: Who, own: boolean): Who =>
  own
    ? (CALLERS.find((c) => c.principal === lease.principal && c.execution === lease.execution) ?? who)
    : who;

const renewLease = command('renew', byLease, async ({ back, who, own, shift, ttl, text }, model, real) => {
  const lease = pick(model, back);
  if (!lease) return;
  const caller = asker(lease, who, own);
  const expected = renew(model, lease, caller, lease.token + shift, { ttl, progress: text });
  const answer = await real
    .as(caller)
    .leases.renewLease({
      leaseId: lease.id,
      fencingToken: BigInt(lease.token + shift),
      progress: text,
      ...optional('ttl', ttl && durationOf(ttl)),
    })
    .catch(failureOf);
  expect('error' in answer ? answer : leaseAnswer(answer.lease)).toEqual(
    expected ?? modelLease(model, lease),
  );
});

const releaseLease = command('release', byLease, async ({ back, who, own, shift, text }, model, real) => {
  const lease = pick(model, back);
  if (!lease) return;
  const caller = asker(lease, who, own);
  const expected = release(model, lease, caller, lease.token + shift, text);
  const answer = await real
    .as(caller)
    .leases.releaseLease({ leaseId: lease.id, fencingToken: BigInt(lease.token + shift), note: text })
    .catch(failureOf);
  if ('error' in answer || 'error' in expected) return expect(answer).toEqual(expected);
  expect({ alreadyEnded: answer.alreadyEnded, lease: leaseAnswer(answer.lease) }).toEqual({
    ...expected,
    lease: modelLease(model, lease),
  });
});

const byId = (leases: readonly { id: string }[]) => leases.toSorted((a, b) => (a.id < b.id ? -1 : 1));

const renewAll = command(
  'renew execution',
  fc.record({ who: anExecution, ttl: aTtl }),
  async ({ who, ttl }, model, real) => {
    const { renewed, lost } = renewExecution(model, who, ttl);
    const answer = await real
      .as(who)
      .leases.renewExecution({ executionId: who.execution, ...optional('ttl', ttl && durationOf(ttl)) });
    const shapes = (leases: readonly ModelLease[]) => byId(leases.map((lease) => modelLease(model, lease)));
    expect({
      renewed: byId(answer.renewed.map((lease) => leaseAnswer(lease) ?? expect.fail())),
      lost: byId(answer.lost.map((lease) => leaseAnswer(lease) ?? expect.fail())),
    }).toEqual({ renewed: shapes(renewed), lost: shapes(lost) });
  },
);

const endRun = command('end execution', anExecution, async (who, model, real) => {
  const { alreadyEnded, released } = endExecution(model, who);
  const answer = await real.as(who).leases.endExecution({ executionId: who.execution });
  expect({
    alreadyEnded: answer.alreadyEnded,
    released: byId(answer.released.map((lease) => leaseAnswer(lease) ?? expect.fail())),
  }).toEqual({ alreadyEnded, released: byId(released.map((lease) => modelLease(model, lease))) });
});

const force = command('force-release', aKey, async (key, model, real) => {
  const admin = CALLERS.find(({ role }) => role === 'admin') as Who;
  const task = taskOf(model, key);
  const expected = forceRelease(model, task, admin, 'stuck');
  const answer = await real
    .as(admin)
    .leases.forceReleaseLease({ taskId: task.id, reason: 'stuck' })
    .catch(failureOf);
  expect('error' in answer ? answer : leaseAnswer(answer.lease)).toEqual(
    'error' in expected ? expected : modelLease(model, expected, 'OTHERS'),
  );
});

const aProof = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ of: 'nothing' } as const) },
  { weight: 6, arbitrary: fc.record({ of: fc.constant('this task' as const), shift: aShift }) },
  { weight: 3, arbitrary: fc.record({ of: fc.constant('any lease' as const), back: aLease, shift: aShift }) },
  {
    weight: 1,
    arbitrary: fc.record({ of: fc.constant('no lease' as const), id: fc.constantFrom('', 'made-up') }),
  },
);
type ProofInput = typeof aProof extends fc.Arbitrary<infer T> ? T : never;

function proofOf(model: Model, task: ModelTask, input: ProofInput): Proof | undefined {
  if (input.of === 'nothing') return undefined;
  if (input.of === 'no lease') return { leaseId: input.id, lease: undefined, token: task.token };
  const lease = input.of === 'any lease' ? pick(model, input.back) : (task.lease ?? task.previous);
  return lease && { leaseId: lease.id, lease, token: lease.token + input.shift };
}

const message = (proof: Proof | undefined) =>
  optional('proof', proof && { leaseId: proof.leaseId, fencingToken: BigInt(proof.token) });

const writeCommand = (rpc: Write['rpc'], texts: readonly string[]) =>
  command(
    rpc,
    fc.record({
      key: aKey,
      who: anybody,
      own: fc.boolean(),
      proof: aProof,
      override: fc.constantFrom('', '', '', 'because'),
      text: fc.constantFrom(...texts),
    }),
    async ({ key, who, own, proof: input, override, text }, model, real) => {
      const task = taskOf(model, key);
      const proof = proofOf(model, task, input);
      const caller = proof?.lease ? asker(proof.lease, who, own) : who;
      const expected = write(model, task, caller, proof, override, { rpc, text });
      const request = {
        taskId: task.id,
        executionId: caller.execution,
        overrideReason: override,
        ...message(proof),
      };
      const { tasks } = real.as(caller);
      const calls = {
        UpdateTask: () => tasks.updateTask({ ...request, title: text }),
        AddNote: () => tasks.addNote({ ...request, text }),
        CompleteTask: () => tasks.completeTask({ ...request, result: text }),
        DropTask: () => tasks.dropTask({ ...request, reason: text }),
        ReopenTask: () => tasks.reopenTask({ ...request, reason: text }),
        DeleteTask: () => tasks.deleteTask(request),
      };
      const answer = await calls[rpc]().catch(failureOf);
      if ('error' in answer || expected) return expect(answer).toEqual(expected);
      if ('task' in answer) expect(taskAnswer(answer.task)).toEqual(modelTask(model, task));
    },
  );

const requeueTask = command(
  'requeue',
  fc.record({ key: aKey, who: anybody }),
  async ({ key, who }, model, real) => {
    const task = taskOf(model, key);
    const expected = requeue(model, task, { ...who, execution: '' }, 'looked at it');
    const answer = await real
      .as(who)
      .tasks.requeueTask({ taskId: task.id, reason: 'looked at it' })
      .catch(failureOf);
    expect('error' in answer ? answer : taskAnswer(answer.task)).toEqual(expected ?? modelTask(model, task));
  },
);

const createTask = command(
  'create',
  fc.record({ key: aKey, who: anybody }),
  async ({ key, who }, model, real) => {
    const created = model.create(key, 'again', who);
    const answer = await real
      .as(who)
      .tasks.createTask({ title: 'again', externalKey: key, executionId: who.execution })
      .catch(failureOf);
    if ('error' in answer || !created) return expect(answer).toEqual(fail('AlreadyExists'));
    created.id = answer.task?.id ?? '';
    expect(taskAnswer(answer.task)).toEqual(modelTask(model, created));
  },
);

const check = command(
  'check',
  fc.record({ key: aKey, who: anybody, proof: aProof }),
  async (input, model, real) => {
    const task = taskOf(model, input.key);
    const proof = proofOf(model, task, input.proof);
    const { who } = input;
    const answer = await real
      .as(who)
      .leases.checkLease({ taskId: task.id, executionId: who.execution, ...message(proof) })
      .catch(failureOf);
    if (task.deleted) return expect(answer).toEqual(fail('NotFound'));
    const verdict = model.verdict(task, who, proof);
    if ('error' in answer || verdict.startsWith('INVALID')) {
      return expect(answer).toEqual(fail('InvalidArgument', { field: verdict.slice(8) }));
    }
    const live = verdict === 'ALLOWED' && proof !== undefined;
    expect({
      verdict: answer.allowed ? 'ALLOWED' : WriteCode[answer.rejection?.code ?? 0],
      live: answer.live,
      remaining: answer.remaining,
      enforcement: Enforcement[answer.enforcement],
    }).toMatchObject({
      verdict,
      live,
      remaining: durationOf(live && task.lease ? task.lease.expiresAt - model.now : 0),
      enforcement: model.rules.mode,
    });
  },
);

const read = command('read', aKey, async (key, model, real) => {
  const reader = real.as(CALLERS[0] as Who);
  const task = taskOf(model, key);
  const [answer, live] = await Promise.all([
    reader.tasks.getTask({ taskId: task.id }).catch(failureOf),
    reader.leases.listLeases({}),
  ]);
  expect('error' in answer ? answer : taskAnswer(answer.task)).toEqual(
    task.deleted ? fail('NotFound') : modelTask(model, task),
  );
  const expected = [...model.tasks.values()].filter((t) => model.isLive(t)).flatMap((t) => t.lease ?? []);
  expect(
    live.leases.map(leaseAnswer).toSorted((a, b) => (String(a?.taskId) < String(b?.taskId) ? -1 : 1)),
  ).toEqual(
    expected
      .map((lease) => modelLease(model, lease, 'OTHERS'))
      .toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1)),
  );
});

const advance = command(
  'advance',
  fc.constantFrom(1, SECOND, 4 * SECOND, 11 * SECOND, 61 * SECOND),
  (by, model, real) => tick(model, real, by),
);

/** To the microsecond where mistakes live. */
const toDeadline = command(
  'advance to the next deadline, plus',
  fc.constantFrom(-1, 0, 1),
  async (offset, model, real) => {
    const deadlines = [...model.tasks.values()].flatMap((task) => task.lease?.expiresAt ?? []);
    const by = Math.min(...deadlines.filter((at) => at > model.now)) + offset - model.now;
    if (by <= 0 || !Number.isFinite(by)) return;
    await tick(model, real, by);
  },
);

const sweepAll = command('sweep', fc.constant(0), async (_input, model, real) => {
  await real.sweep();
  model.sweep();
});

const often = <T>(times: number, ...arbitraries: T[]): T[] =>
  Array.from({ length: times }, () => arbitraries).flat();

/** Every command; those that end things for good are rare, else little is left to happen. */
export const commands = [
  ...often(8, acquireTask),
  ...often(3, retryAcquire, renewLease, toDeadline, advance),
  ...often(
    2,
    releaseLease,
    renewAll,
    check,
    writeCommand('UpdateTask', ['first', 'a new title', 'another title']),
    writeCommand('AddNote', ['a note', 'another note']),
    writeCommand('CompleteTask', ['', 'the result', 'another result']),
    writeCommand('ReopenTask', ['', 'not good enough']),
    requeueTask,
    createTask,
    sweepAll,
    read,
  ),
  writeCommand('DropTask', ['', 'no use']),
  writeCommand('DeleteTask', ['']),
  force,
  endRun,
];
