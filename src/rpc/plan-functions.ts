import type { MessageInitShape } from '@bufbuild/protobuf';
import type { PlanSchema, TaskService } from '@holdfast/proto/task';
import { differences } from '../domain/content.js';
import type { Problem } from '../domain/problem.js';
import { actorOf } from '../domain/write.js';
import { Contention, constraintOf, faultOf } from '../store/database-error.js';
import {
  createPlan,
  findPlan,
  listPlans,
  listSteps,
  type Plan,
  readPlan,
  updatePlan,
} from '../store/plans.js';
import { type Api, fail, type ServiceFunctions } from './api.js';
import { type Call, earlier } from './call.js';
import { taskMessage } from './encode/task.js';
import { timestamp } from './encode/time.js';
import { newId } from './ids.js';
import { cut, LAST_INTEGER, numberCursor, pageOf } from './page.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof TaskService.method>;

const STEPS_PER_PAGE = 1000;

function planMessage(plan: Plan): MessageInitShape<typeof PlanSchema> {
  return {
    id: plan.id,
    project: plan.project,
    title: plan.title,
    body: plan.body,
    externalKey: plan.externalKey ?? '',
    stepsDone: plan.stepsDone,
    stepsTotal: plan.stepsTotal,
    createdAt: timestamp(plan.createdAt),
    createdBy: plan.createdBy,
  };
}

async function existingPlan({ store }: Api, call: Call, by: { planId: string } | { externalKey: string }) {
  const plan = await findPlan(store, call.project, by);
  return plan ?? fail(noSuchPlan('planId' in by ? by.planId : by.externalKey));
}

const noSuchPlan = (name: string): Problem => ({
  kind: 'NOT_FOUND',
  message: `There is no plan ${JSON.stringify(name)} in this project.`,
});

const createPlanCall: Functions['createPlan'] = async (api, call, request) => {
  const { store } = api;
  const ref = await earlier(store, call);
  if (ref !== undefined) return { plan: planMessage(await existingPlan(api, call, { planId: ref })) };
  try {
    const plan = await createPlan(
      store,
      call.project,
      {
        id: newId(),
        title: request.title,
        body: request.body,
        externalKey: request.externalKey || undefined,
      },
      actorOf(call.caller),
      call.request,
    );
    return { plan: planMessage(plan) };
  } catch (error) {
    if (faultOf(error) !== 'DUPLICATE') throw error;
    const ref = await earlier(store, call);
    if (ref !== undefined) return { plan: planMessage(await existingPlan(api, call, { planId: ref })) };
    if (constraintOf(error) !== 'plan_external_key') throw error;
    return fail({
      kind: 'ALREADY_EXISTS',
      message: `external_key ${JSON.stringify(request.externalKey)} is in use. GetPlan with it finds the plan.`,
    });
  }
};

const getPlan: Functions['getPlan'] = async (api, call, request) => {
  const { planId, externalKey } = request;
  if ((planId === '') === (externalKey === '')) {
    throw invalidArgument('plan_id', 'or external_key must be given, not both');
  }
  const page = pageOf(request, call.project, STEPS_PER_PAGE);
  const plan = await existingPlan(api, call, planId ? { planId } : { externalKey });
  const steps = await listSteps(
    api.store,
    call.project,
    plan.id,
    Number(numberCursor(page, LAST_INTEGER) ?? 0),
    page.size + 1,
  );
  const { rows, nextPageToken } = cut(page, steps, ({ task }) => String(task.planOrder));
  return {
    plan: planMessage(plan),
    steps: rows.map(({ task, state, now }) => taskMessage(task, state, now)),
    nextPageToken,
  };
};

const listPlansCall: Functions['listPlans'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  const found = await listPlans(store, call.project, page.after ?? '', page.size + 1);
  const { rows, nextPageToken } = cut(page, found, (plan) => plan.id);
  return { plans: rows.map(planMessage), nextPageToken };
};

const MAX_TRIES = 8;

const updatePlanCall: Functions['updatePlan'] = async (api, call, request) => {
  const { planId, title, body, stepIds } = request;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = await readPlan(api.store, call.project, planId);
    if (!read) return fail(noSuchPlan(planId));
    if (stepIds.length > 0) requireAllSteps(read.stepIds, stepIds);
    const reordered = stepIds.length > 0 && stepIds.some((id, i) => id !== read.stepIds[i]);
    const changes = [
      ...differences<'title' | 'body'>(read, {
        ...(title !== undefined && { title }),
        ...(body !== undefined && { body }),
      }),
      ...(reordered ? differences({ step_ids: read.stepIds }, { step_ids: stepIds }) : []),
    ];
    if (changes.length === 0) break;
    const done = await updatePlan(
      api.store,
      call.project,
      planId,
      read,
      {
        ...(title !== undefined && { title }),
        ...(body !== undefined && { body }),
        ...(reordered && { stepIds }),
      },
      {
        kind: 'PLAN_UPDATED',
        actor: actorOf(call.caller),
        payload: { planId, title: title ?? read.title, changes },
      },
    );
    if (done) break;
    if (tries === MAX_TRIES - 1) throw new Contention();
  }
  return { plan: planMessage(await existingPlan(api, call, { planId })) };
};

/** An order that leaves a step out, or names another's, says nothing about where that one should stand. */
function requireAllSteps(steps: readonly string[], wanted: readonly string[]): void {
  // Sets, since a plan may have ten thousand steps.
  const left = new Set(steps);
  const foreign = wanted.find((id) => !left.delete(id));
  if (foreign !== undefined) {
    throw invalidArgument(
      'step_ids',
      `names ${JSON.stringify(foreign)}, which is no step of this plan or named twice`,
    );
  }
  const [missing] = left;
  if (missing !== undefined) {
    throw invalidArgument(
      'step_ids',
      `leaves out ${JSON.stringify(missing)}: name all ${steps.length} steps`,
    );
  }
}

export const planFunctions = {
  createPlan: createPlanCall,
  getPlan,
  listPlans: listPlansCall,
  updatePlan: updatePlanCall,
} satisfies Functions;
