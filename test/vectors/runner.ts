import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DescMethodUnary, fromJson, type JsonObject } from '@bufbuild/protobuf';
import {
  createHoldfast,
  type Holdfast,
  type WatchNews,
  type WatchOptions,
  watch,
  worker,
} from '@holdfast/client';
import { HistoryService } from '@holdfast/proto/history';
import { LeaseService, WatchLeasesRequestSchema } from '@holdfast/proto/lease';
import {
  CreateProjectRequestSchema,
  CreateTokenRequestSchema,
  ProjectService,
} from '@holdfast/proto/project';
import { TaskService } from '@holdfast/proto/task';
import { calculate } from './calculations.js';
import { Holding } from './holding.js';
import { Bindings, type Json, unmet } from './matching.js';
import type { Scenario, Step, StepOf } from './scenario.js';
import type { VectorServer } from './server.js';
import { errorJson, jsonOf, newsJson, WorkFailed } from './told.js';

const SERVICES = { LeaseService, TaskService, HistoryService, ProjectService };
const STEP_MS = 30_000;
const REPEAT_MS = 100;

/** Runs one scenario. Rejects when it fails. */
export async function runScenario(scenario: Scenario, server: VectorServer): Promise<void> {
  const runner = new Runner(scenario, server);
  try {
    await runner.run();
  } finally {
    await runner.end();
  }
}

type Outcome = { answer: Json } | { error: Json };

class Runner {
  readonly #scenario: Scenario;
  readonly #server: VectorServer;
  readonly #bindings = new Bindings();
  readonly #clients = new Map<string, Holdfast>();
  readonly #tokens = new Map<string, string>();
  readonly #held = new Map<string, Holding>();
  readonly #watches = new Map<string, Watching>();

  constructor(scenario: Scenario, server: VectorServer) {
    this.#scenario = scenario;
    this.#server = server;
  }

  async run(): Promise<void> {
    await this.#prepare();
    for (const [at, step] of this.#scenario.steps.entries()) {
      const name = `step ${at + 1}, ${JSON.stringify(step)}`;
      const late = new AbortController();
      const timeout = sleep(STEP_MS, undefined, { signal: late.signal }).then(() => {
        throw new Error(`not done within ${STEP_MS} ms`);
      });
      try {
        await Promise.race([this.#do(step), timeout]);
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
      } finally {
        late.abort();
        timeout.catch(() => {});
      }
    }
  }

  async end(): Promise<void> {
    for (const watching of this.#watches.values()) await watching.stop();
    await this.#server.act({ act: 'heal' });
    for (const holding of this.#held.values()) await holding.leave();
    for (const client of this.#clients.values()) client.close();
  }

  async #prepare(): Promise<void> {
    const { principals, settings = {} } = this.#scenario;
    if (Object.keys(principals).length === 0) return;
    const project = `vectors-${randomUUID()}`;
    this.#bindings.bind({ project: '' }, project);
    const owner = createHoldfast({ url: this.#server.url, token: this.#server.ownerToken });
    this.#clients.set('owner', owner);
    const create = { project, settings };
    await owner.projects.createProject(fromJson(CreateProjectRequestSchema, create as JsonObject));
    for (const [principal, { kind, role }] of Object.entries(principals)) {
      const request = fromJson(CreateTokenRequestSchema, { project, principal, kind, role });
      this.#tokens.set(principal, (await owner.projects.createToken(request)).token);
    }
  }

  #client(as: string): Holdfast {
    const [principal = '', executionId = 'run-1'] = as.split('/');
    const token = this.#tokens.get(principal);
    if (token === undefined) throw new Error(`there is no principal ${principal}`);
    const { url, faultyUrl } = this.#server;
    const faulty = this.#scenario.principals[principal]?.connection === 'faulty';
    const client =
      this.#clients.get(as) ?? createHoldfast({ url: faulty ? faultyUrl : url, token, executionId });
    this.#clients.set(as, client);
    return client;
  }

  async #do(step: Step): Promise<void> {
    switch (step.do) {
      case 'call':
        return this.#call(step);
      case 'hold':
        return this.#hold(step);
      case 'holds':
        return this.#check(step, await outcomeOf(this.#holding(step.held).begun()));
      case 'write':
        return this.#check(
          step,
          await outcomeOf(this.#holding(step.held).write(step.write, this.#bindings.fill(step.request))),
        );
      case 'renewed':
        return this.#holding(step.held).renewed(step.times);
      case 'stopped':
        return this.#expect(step.error, errorJson(await this.#holding(step.held).stopped()));
      case 'leave': {
        const { throwing, releaseNote } = step;
        const ended = this.#holding(step.held).leave(throwing, releaseNote);
        this.#held.delete(step.held);
        return this.#check(step, await outcomeOf(ended.then(() => null)));
      }
      case 'work':
        return this.#work(step);
      case 'watch': {
        const options = fromJson(WatchLeasesRequestSchema, this.#bindings.fill(step.options) as JsonObject);
        this.#watches.set(step.watch, new Watching(this.#client(step.as), options));
        return;
      }
      case 'news': {
        const last = await this.#watching(step.watch).told(this.#bindings.fill(step.news));
        return this.#bindings.bind(step.bind ?? {}, last);
      }
      case 'unwatch':
        return this.#check(step, await outcomeOf(this.#watching(step.watch).end(step.error !== undefined)));
      case 'server':
        return this.#server.act(this.#bindings.fill(step as unknown as Record<string, Json>) as typeof step);
      case 'calculate':
        return this.#expect(step.output, calculate(step.function, step.input));
      default:
        throw new Error(`the runner does not know the verb ${(step as { do: string }).do}`);
    }
  }

  async #call(step: StepOf<'call'>): Promise<void> {
    const [service = '', name = ''] = step.rpc.split('/');
    const descriptor = SERVICES[service as keyof typeof SERVICES];
    const method = descriptor?.methods.find((one) => one.name === name) as DescMethodUnary | undefined;
    if (!method) throw new Error(`there is no ${step.rpc}`);
    const client = this.#client(step.as);
    const clients = {
      LeaseService: client.leases,
      TaskService: client.tasks,
      HistoryService: client.history,
      ProjectService: client.projects,
    };
    const send = (
      clients[service as keyof typeof clients] as unknown as Record<
        string,
        (request: object) => Promise<never>
      >
    )[method.localName];
    for (;;) {
      const request = fromJson(method.input, this.#bindings.fill(step.request) as JsonObject);
      const outcome = await outcomeOf(
        (send as NonNullable<typeof send>)(request).then((answer) => jsonOf(method.output, answer)),
      );
      try {
        return this.#check(step, outcome);
      } catch (error) {
        if (!step.repeat) throw error;
        await sleep(REPEAT_MS);
      }
    }
  }

  async #hold(step: StepOf<'hold'>): Promise<void> {
    const holding = new Holding(this.#client(step.as), this.#bindings.fill(step.wanted), step);
    this.#held.set(step.held, holding);
    if (step.background) return holding.sent();
    const outcome = await outcomeOf(holding.begun());
    if ('error' in outcome) this.#held.delete(step.held);
    this.#check(step, outcome);
  }

  async #work({ as, next, tasks, result, failing = {}, titles }: StepOf<'work'>): Promise<void> {
    const stop = new AbortController();
    const worked: string[] = [];
    await worker(
      this.#client(as),
      async ({ task }) => {
        worked.push(task.title);
        if (worked.length === tasks) stop.abort();
        const failure = failing[task.title];
        if (failure !== undefined) throw new WorkFailed(failure);
        return result;
      },
      { next: this.#bindings.fill(next), signal: stop.signal },
    );
    this.#expect(titles, worked);
  }

  #holding(name: string): Holding {
    const holding = this.#held.get(name);
    if (!holding) throw new Error(`nothing is held as ${name}`);
    return holding;
  }

  #watching(name: string): Watching {
    const watching = this.#watches.get(name);
    if (!watching) throw new Error(`nothing is watched as ${name}`);
    return watching;
  }

  /** Compares what came with what a step expects, and binds what it names. */
  #check(step: { answer?: Json; error?: Json; bind?: Record<string, string> }, outcome: Outcome): void {
    if ('error' in outcome) {
      if (step.error === undefined) throw new Error(`it failed: ${JSON.stringify(outcome.error)}`);
      this.#expect(step.error, outcome.error);
      return;
    }
    if (step.error !== undefined) throw new Error(`it succeeded: ${JSON.stringify(outcome.answer)}`);
    this.#expect(step.answer ?? {}, outcome.answer ?? {});
    this.#bindings.bind(step.bind ?? {}, outcome.answer);
  }

  #expect(expected: Json, actual: Json): void {
    const faults = unmet(this.#bindings.fill(expected), actual);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }
}

async function outcomeOf(promise: Promise<Json>): Promise<Outcome> {
  try {
    return { answer: await promise };
  } catch (error) {
    return { error: errorJson(error) };
  }
}

/** A watch, read as a scenario asks. */
class Watching {
  readonly #abort = new AbortController();
  readonly #news: AsyncGenerator<WatchNews>;

  constructor(
    client: Holdfast,
    { $typeName, $unknown, ...options }: WatchOptions & { $typeName: string; $unknown?: unknown },
  ) {
    this.#news = watch(client, { ...options, signal: this.#abort.signal });
  }

  /** @returns the last of them */
  async told(expected: Record<string, Json>[]): Promise<Json> {
    let last: Json = null;
    for (const one of expected) {
      do last = await this.#next();
      while (isPassedOver(last, one));
      const faults = unmet(one, last);
      if (faults.length > 0) throw new Error(faults.join('\n'));
    }
    return last;
  }

  /** @param byItself it ends without being told to */
  async end(byItself: boolean): Promise<null> {
    if (!byItself) this.#abort.abort();
    for await (const news of this.#news) {
      if (news.kind !== 'checkpoint' && news.kind !== 'renewed')
        throw new Error(`unexpected: ${JSON.stringify(newsJson(news))}`);
    }
    return null;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#news.return(undefined).catch(() => {});
  }

  async #next(): Promise<Record<string, Json>> {
    const { value, done } = await this.#news.next();
    if (done) throw new Error('the watch has ended');
    return newsJson(value);
  }
}

function isPassedOver(news: Json, expected: Record<string, Json>): boolean {
  const { kind } = news as Record<string, Json>;
  return kind !== expected.kind && (kind === 'checkpoint' || kind === 'renewed');
}
