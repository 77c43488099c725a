import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { explain, WriteRejected } from '@holdfast/client';
import {
  ImportAction,
  type ImportResult,
  ImportResultSchema,
  type Task,
  TaskStatus,
} from '@holdfast/proto/task';
import type { ImportedPlan, ImportedStep } from './import-plan.js';
import { ownProof } from './own-lease.js';
import { LARGEST_PAGE, readPages } from './pages.js';
import type { Session } from './session.js';

/** Brings plans into a project, one step after the other so that they keep their order. */
export class ChecklistImport {
  readonly #session: Session;
  readonly #fileName: string;
  readonly #dryRun: boolean;
  readonly #tell: (stepsDone: number) => void;

  /** @param tell is called after each step with how many there were so far */
  constructor(session: Session, fileName: string, dryRun: boolean, tell: (stepsDone: number) => void) {
    this.#session = session;
    this.#fileName = fileName;
    this.#dryRun = dryRun;
    this.#tell = tell;
  }

  /** What became of each step, in their order. Run again after an error, it goes on where it stopped. */
  async importAll(plans: ImportedPlan[]): Promise<ImportResult[]> {
    const executionId = this.#dryRun ? '' : await this.#session.writer();
    const results: ImportResult[] = [];
    for (const plan of plans) {
      const present = await this.#present(plan.externalKey);
      const planId = present?.planId ?? (await this.#createPlan(plan, executionId));
      for (const step of plan.steps) {
        const task = present?.steps.get(step.externalKey);
        results.push(await this.#importStep(step, task, planId, executionId));
        this.#tell(results.length);
      }
    }
    return results;
  }

  async #present(externalKey: string): Promise<{ planId: string; steps: Map<string, Task> } | undefined> {
    const { holdfast, project } = this.#session;
    try {
      const { plan, steps } = await readPages(
        Number.POSITIVE_INFINITY,
        (page) => holdfast.tasks.getPlan({ project, externalKey, ...page, pageSize: LARGEST_PAGE }),
        (answer) => answer.steps,
      );
      return { planId: plan?.id ?? '', steps: new Map(steps.map((task) => [task.externalKey, task])) };
    } catch (error) {
      if (isCode(error, Code.NotFound)) return undefined;
      throw error;
    }
  }

  async #createPlan({ title, externalKey }: ImportedPlan, executionId: string): Promise<string> {
    if (this.#dryRun) return '';
    const { holdfast, project } = this.#session;
    const { plan } = await holdfast.tasks.createPlan({
      project,
      title,
      externalKey,
      executionId,
      requestId: crypto.randomUUID(),
    });
    return plan?.id ?? '';
  }

  async #importStep(
    step: ImportedStep,
    found: Task | undefined,
    planId: string,
    executionId: string,
  ): Promise<ImportResult> {
    const result = (action: ImportAction, taskId: string, error = '') =>
      create(ImportResultSchema, { action, taskId, error, externalKey: step.externalKey, line: step.line });
    if (this.#dryRun && !found) return result(ImportAction.CREATED, '');
    const created = found ? undefined : await this.#createTask(step, planId, executionId);
    const task = found ?? created ?? (await this.#existingTask(step.externalKey));
    const complete = step.done && isOpen(task.status);
    const action = created ? ImportAction.CREATED : complete ? ImportAction.UPDATED : ImportAction.UNCHANGED;
    try {
      if (complete && !this.#dryRun) await this.#complete(task.id, executionId);
    } catch (error) {
      if (!(error instanceof WriteRejected)) throw error;
      return result(ImportAction.FAILED, task.id, explain(error));
    }
    return result(action, task.id);
  }

  /** Undefined when there is a task with this key, outside of the plan. */
  async #createTask(step: ImportedStep, planId: string, executionId: string): Promise<Task | undefined> {
    const { holdfast, project } = this.#session;
    const { title, body, externalKey } = step;
    const request = {
      project,
      title,
      body,
      externalKey,
      planId,
      executionId,
      requestId: crypto.randomUUID(),
    };
    try {
      return (await holdfast.tasks.createTask(request)).task;
    } catch (error) {
      if (isCode(error, Code.AlreadyExists)) return undefined;
      throw error;
    }
  }

  async #existingTask(externalKey: string): Promise<Task> {
    const { holdfast, project } = this.#session;
    const { task } = await holdfast.tasks.getTask({ project, externalKey });
    if (!task) throw new Error(`the server has a task ${externalKey} and does not show it`);
    return task;
  }

  async #complete(taskId: string, executionId: string): Promise<void> {
    const { holdfast, project } = this.#session;
    const proof = await ownProof(this.#session, taskId);
    await holdfast.tasks.completeTask({
      project,
      taskId,
      executionId,
      result: `Checked off in ${this.#fileName}.`,
      requestId: crypto.randomUUID(),
      ...(proof ? { proof } : {}),
    });
  }
}

function isOpen(status: TaskStatus): boolean {
  return status === TaskStatus.OPEN || status === TaskStatus.IN_PROGRESS;
}

function isCode(error: unknown, code: Code): boolean {
  return error instanceof ConnectError && error.code === code;
}
