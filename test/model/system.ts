import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { Holdfast } from '@holdfast/client';
import { Enforcement } from '@holdfast/proto/guard';
import type { MovableClock } from '../support/clock.js';
import type { TestService } from '../support/service.js';
import { Model, type Rules, type Who } from './model.js';

export const KEYS = ['first', 'second', 'third'] as const;
const PRINCIPALS = { ada: 'agent', bob: 'agent', mia: 'member', root: 'admin' } as const;

/** Who calls: agents in several runs, people with and without one. */
export const CALLERS: readonly Who[] = [
  ...['run-1', 'run-2', 'run-3', 'run-4'].map((execution) => ({
    principal: 'ada',
    role: 'agent' as const,
    execution,
  })),
  ...['run-1', 'run-2', 'run-3'].map((execution) => ({
    principal: 'bob',
    role: 'agent' as const,
    execution,
  })),
  { principal: 'mia', role: 'member', execution: '' },
  { principal: 'mia', role: 'member', execution: 'desk' },
  { principal: 'root', role: 'admin', execution: '' },
  { principal: 'root', role: 'admin', execution: 'desk' },
];

/** The real thing: a project of its own on a running service, and the clock of its database. */
export interface System {
  readonly project: string;
  readonly clock: MovableClock;
  as(who: Who): Holdfast;
  sweep(): Promise<void>;
}

let projects = 0;

export const durationOf = (micros: number) => ({
  seconds: BigInt(Math.floor(micros / 1e6)),
  nanos: (micros % 1e6) * 1e3,
});

/** A fresh project under the given rules, with its tasks, and the model of it. */
export async function setUp(
  service: TestService,
  clock: MovableClock,
  sweep: () => Promise<void>,
  rules: Rules,
): Promise<{ model: Model; real: System }> {
  const project = `model-${++projects}`;
  const owner = service.client(service.ownerToken);
  await owner.projects.createProject({
    project,
    settings: {
      enforcement: Enforcement[rules.mode],
      defaultTtl: durationFromMs(rules.defaultTtl / 1_000),
      maxTtl: durationFromMs(rules.maxTtl / 1_000),
      maxAge: durationFromMs(rules.maxAge / 1_000),
      maxExpiries: rules.maxExpiries,
    },
  });
  owner.close();
  const clients = new Map<string, Holdfast>();
  for (const [principal, role] of Object.entries(PRINCIPALS)) {
    const token = await service.token(role === 'agent' ? 'AGENT' : 'PERSON', role, principal, project);
    clients.set(principal, service.client(token));
  }
  const as = ({ principal }: Who) => clients.get(principal) as Holdfast;
  const real: System = { project, clock, as, sweep };

  const model = new Model(rules, await clock.now());
  const creator = CALLERS[0] as Who;
  for (const key of KEYS) {
    const { task } = await as(creator).tasks.createTask({
      title: key,
      externalKey: key,
      executionId: creator.execution,
    });
    const made = model.create(key, key, creator);
    if (made) made.id = task?.id ?? '';
  }
  return { model, real };
}

export function tearDown({ as }: System): void {
  for (const who of CALLERS) as(who).close();
}
