import type { Holdfast } from '@holdfast/client';
import type { Plan, Task } from '@holdfast/proto/task';

/** A plan that can be made, and its steps in order. */
export interface Draft {
  title: string;
  body?: string;
  steps: readonly { title: string; body?: string }[];
}

/** A plan with its steps. */
export interface PlanWithSteps {
  plan: Plan;
  steps: Task[];
}

/** Makes a plan. Its steps wait for nothing: each can be claimed at once. */
export async function makePlan(
  holdfast: Holdfast,
  project: string,
  executionId: string,
  { steps, ...about }: Draft,
): Promise<PlanWithSteps> {
  const { plan } = await holdfast.tasks.createPlan({ project, executionId, ...about });
  if (!plan) throw new Error('the server answered without the plan it made; is it newer?');
  const made: Task[] = [];
  for (const step of steps) {
    const { task } = await holdfast.tasks.createTask({ project, executionId, planId: plan.id, ...step });
    if (task) made.push(task);
  }
  return { plan, steps: made };
}
