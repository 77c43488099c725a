import type { Held } from './agent-acts.js';
import { type Checks, Deviation } from './checks.js';
import type { RaceResult } from './race.js';
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
  checks.equal('its code', rejection.code, 'STALE_LOCK');
  checks.equal('it names who holds the task now', rejection.holder, holder.name);
  const { fencingToken } = rejection;
  // Over MCP agents are told no tokens: their bridge keeps them.
  if (fencingToken) checks.equal('and the current fencing token', fencingToken, taken.fencingToken);
  const why = fencingToken ? `, ${rejection.code}: ${rejection.holder} has token ${fencingToken}.` : ':';
  timeline.add({
    who: twin.name,
    act: 'rejected',
    taskId: raced.id,
    text: `${twin.name} completes with it and is refused${why} ${rejection.advice}`,
  });

  const done = await holder.ask('complete', raced.id, script.result, taken);
  checks.equal(`${holder.name} completes the step`, 'status' in done && done.status, 'DONE');
  checks.equal('with its own result', 'status' in done && done.result, script.result);
  const { plan } = await stage.holdfast.tasks.getPlan({ project: stage.project, planId: raced.planId });
  checks.equal('steps of the plan that are done', `${plan?.stepsDone}/${plan?.stepsTotal}`, '2/2');
  timeline.add({
    who: holder.name,
    act: 'completed',
    taskId: raced.id,
    text: `${holder.name} completes "${raced.title}"; the plan is at ${plan?.stepsDone}/${plan?.stepsTotal}`,
  });
}
