import { WriteCode } from '@holdfast/proto/guard';
import { TaskStatus } from '@holdfast/proto/task';
import { type Checks, Deviation } from './checks.js';
import type { Held, RaceResult } from './race.js';
import { script } from './script.js';
import type { Stage } from './stage.js';

/** Scene 3: the killed agent's twin comes back with the old proof and is refused; the new holder completes. */
export async function lateWriter(
  stage: Stage,
  { raced, winner: dead, won, loser: holder }: RaceResult,
  taken: Held,
  checks: Checks,
): Promise<void> {
  const { timeline } = stage;
  const twin = await stage.enter(dead.identity);
  timeline.add({
    who: twin.name,
    act: 'returns',
    taskId: raced.id,
    text: `${twin.name} is back as process ${twin.pid}: same execution, same lease, still token ${won.fencingToken}`,
  });

  const late = await twin.ask('complete', raced.id, script.lateResult, won);
  if (!checks.equal("the twin's CompleteTask is refused", 'rejection' in late, true)) {
    throw new Deviation('a late write went through');
  }
  const rejection = checks.present('the rejection', 'rejection' in late ? late.rejection : undefined);
  checks.equal('its code', WriteCode[rejection.code], 'STALE_LOCK');
  checks.equal('it names who holds the task now', rejection.holder?.principal, holder.name);
  checks.equal('and the current fencing token', rejection.fencingToken, taken.fencingToken);
  timeline.add({
    who: twin.name,
    act: 'rejected',
    taskId: raced.id,
    text: `${twin.name} completes with it and is refused, ${WriteCode[rejection.code]}: ${rejection.holder?.principal} has token ${rejection.fencingToken}. ${rejection.advice}`,
  });

  const done = await holder.ask('complete', raced.id, script.result, taken);
  const task = 'task' in done ? done.task : undefined;
  checks.equal(`${holder.name} completes the step`, task?.status, TaskStatus.DONE);
  checks.equal('with its own result', task?.result, script.result);
  const { plan } = await stage.holdfast.tasks.getPlan({ project: stage.project, planId: raced.planId });
  checks.equal('steps of the plan that are done', `${plan?.stepsDone}/${plan?.stepsTotal}`, '2/2');
  timeline.add({
    who: holder.name,
    act: 'completed',
    taskId: raced.id,
    text: `${holder.name} completes "${raced.title}"; the plan is at ${plan?.stepsDone}/${plan?.stepsTotal}`,
  });
}
