import type { Holdfast } from '@holdfast/client';
import { LeaseState } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { beforeAll, beforeEach, vi } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { type StdioAgentOptions, stdioAgent } from './agent.js';

/** A server in ENFORCE, with a project of its own for each test in which ada and ben are agents. */
export interface Place {
  readonly service: TestService;
  readonly owner: Holdfast;
  readonly project: string;
  readonly adaToken: string;
  readonly benToken: string;
  /** Connects ada over stdio. */
  ada(more?: Partial<StdioAgentOptions>): ReturnType<typeof stdioAgent>;
  ben(more?: Partial<StdioAgentOptions>): ReturnType<typeof stdioAgent>;
  /** @returns the new task's id */
  newTask(title: string, more?: object): Promise<string>;
  /** The kinds of what happened to a task, in order. */
  kinds(taskId: string): Promise<(string | undefined)[]>;
  /** Waits until the task's newest lease is over, and says how it ended. */
  endOf(taskId: string): Promise<string | undefined>;
}

/**
 * Sets it up for the tests of a file. Its properties may be read once a test runs. Tests may take long: bridges and
 * commands are processes, which a busy machine starts slowly.
 */
export function setUpPlace(): Place {
  vi.setConfig({ testTimeout: 120_000 });
  let service: TestService;
  let owner: Holdfast;
  let project = '';
  let adaToken = '';
  let benToken = '';
  let projects = 0;

  beforeAll(async () => {
    service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
    owner = service.client(service.ownerToken);
  });
  beforeEach(async () => {
    project = `mcp-${++projects}`;
    await owner.projects.createProject({ project });
    adaToken = await service.token('AGENT', 'agent', 'ada', project);
    benToken = await service.token('AGENT', 'agent', 'ben', project);
  });

  return {
    get service() {
      return service;
    },
    get owner() {
      return owner;
    },
    get project() {
      return project;
    },
    get adaToken() {
      return adaToken;
    },
    get benToken() {
      return benToken;
    },
    ada: (more = {}) => stdioAgent({ url: service.url, token: adaToken, ...more }),
    ben: (more = {}) => stdioAgent({ url: service.url, token: benToken, ...more }),
    async newTask(title, more = {}) {
      const { task } = await owner.tasks.createTask({ project, title, ...more });
      return task?.id ?? '';
    },
    async kinds(taskId) {
      const { events } = await owner.history.listHistory({ project, taskId });
      return events.map(({ kind }) => EventKind[kind]);
    },
    async endOf(taskId) {
      for (;;) {
        const { lease } = await owner.leases.getLease({ project, taskId });
        if (lease && lease.state !== LeaseState.ACTIVE) return LeaseState[lease.state];
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}
