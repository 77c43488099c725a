import type { Task } from '@holdfast/proto/task';
import type { Agent } from './agent.js';
import type { Acquired, Held } from './agent-acts.js';
import { type Checks, Deviation } from './checks.js';
import type { PlanWithSteps } from './plan.js';
import { script } from './script.js';
import type { Stage } from './stage.js';

/** How the race went. */
export interface RaceResult {
  readonly raced: Task;
  readonly other: Task;
  /** Who got the step that both reached for. */
  readonly winner: Agent;
  readonly won: Held;
  /** Who was refused it, and took the other one. */
  readonly loser: Agent;
  readonly instead: Held;
}

/** Scene 1: both agents see two ready steps and reach for the same. One gets it, the other takes the other one. */
export async function race(
  { timeline }: Stage,
  { plan, steps }: PlanWithSteps,
  [one, two]: readonly [Agent, Agent],
  checks: Checks,
): Promise<RaceResult> {
  const both = [one, two];
  await Promise.all(
    both.map(async (agent) => {
      const seen = await agent.ask('look', plan.id);
      checks.equal(
        `${agent.name} sees two ready steps`,
        seen.map((task) => task.id),
        steps.map((task) => task.id),
      );
      const titles = seen.map((task) => `"${task.title}"`).join(' and ');
      timeline.add({
        who: agent.name,
        act: 'looks',
        taskId: '',
        text: `${agent.name} sees ${titles}, both ready`,
      });
    }),
  );
  const [raced, other] = steps as [Task, Task];

  const asked = both.map((agent) => {
    const answer = agent.ask('acquire', raced.id, script.ttlMs);
    timeline.add({
      who: agent.name,
      act: 'reaches',
      taskId: raced.id,
      text: `${agent.name} reaches for "${raced.title}"`,
    });
    return answer;
  });
  const outcomes = await Promise.all(asked);
  const isGrant = (answer: Acquired | undefined) => answer !== undefined && 'grant' in answer;
  const winners = both.filter((_, at) => isGrant(outcomes[at]));
  if (!checks.equal('agents that were granted the same step', winners.length, 1)) {
    throw new Deviation('no single winner');
  }
  const [winner, loser] = isGrant(outcomes[0]) ? [one, two] : [two, one];
  const won = held(outcomes.find(isGrant), checks);
  const refusal = outcomes.flatMap((answer) => ('refusal' in answer ? [answer.refusal] : []))[0];
  checks.equal('the other is refused', refusal?.reason, 'HELD');
  checks.equal('the refusal names the holder', refusal?.holder?.principal, winner.name);
  checks.equal('and its execution', refusal?.holder?.executionId, winner.identity.executionId);
  timeline.add({
    who: winner.name,
    act: 'granted',
    taskId: raced.id,
    text: `${winner.name} is granted it with fencing token ${won.fencingToken}, for ${script.ttlMs / 1_000} s at a time, and keeps it renewed`,
  });
  timeline.add({
    who: loser.name,
    act: 'refused',
    taskId: raced.id,
    text: `${loser.name} is refused, HELD: ${refusal?.holder?.principal} has it (execution ${refusal?.holder?.executionId})`,
  });

  timeline.add({
    who: loser.name,
    act: 'reaches',
    taskId: other.id,
    text: `${loser.name} reaches for the other, "${other.title}"`,
  });
  const second = await loser.ask('acquire', other.id, script.ttlMs);
  checks.equal('the refused one is granted the other step', isGrant(second), true);
  const instead = held(second, checks);
  timeline.add({
    who: loser.name,
    act: 'granted',
    taskId: other.id,
    text: `${loser.name} is granted it with fencing token ${instead.fencingToken}`,
  });
  return { raced, other, winner, won, loser, instead };
}

function held(answer: Acquired | undefined, checks: Checks): Held {
  const grant = answer && 'grant' in answer ? answer.grant : undefined;
  const { leaseId, fencingToken } = checks.present('the grant has a lease', grant);
  checks.equal('the first fencing token of a task', fencingToken, 1n);
  return { leaseId, fencingToken };
}
