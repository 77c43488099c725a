import type { MessageInitShape } from '@bufbuild/protobuf';
import type { PlanSchema, TaskService } from '@holdfast/proto/task';
import { actorOf } from '../domain/write.js';
import { constraintOf, faultOf } from '../store/database-error.js';
import { createPlan, findPlan, listSteps, type Plan } from '../store/plans.js';
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
  const name = JSON.stringify('planId' in by ? by.planId : by.externalKey);
  return plan ?? fail({ kind: 'NOT_FOUND', message: `There is no plan ${name} in this project.` });
}

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

export const planFunctions = { createPlan: createPlanCall, getPlan } satisfies Functions;
