import type { Holdfast } from '@holdfast/client';
import type { Executions } from './executions.js';
import { type Holdings, renewAll } from './holdings.js';

/**
 * Executions that every call names: over HTTP there is no connection whose end would tell that an agent is gone, and
 * any replica may get the next call. Only calls renew.
 */
export class NamedExecutions implements Executions {
  constructor(
    private readonly holdfast: Holdfast,
    private readonly project: string,
  ) {}

  of(named: string | undefined): string | undefined {
    return named;
  }

  begin(named: string | undefined): string {
    return named ?? crypto.randomUUID();
  }

  active(executionId: string): Promise<Holdings> {
    return renewAll(this.holdfast, this.project, executionId);
  }

  granted(): void {}

  async end(executionId: string): Promise<{ freed: string[]; alreadyEnded: boolean }> {
    const { holdfast, project } = this;
    const { released, alreadyEnded } = await holdfast.leases.endExecution({ project, executionId });
    return { freed: released.map(({ taskId }) => taskId), alreadyEnded };
  }
}
