import { explain } from '@holdfast/client';
import { EventKind } from '@holdfast/proto/history';
import { audit } from './audit.js';
import { type Check, Checks, Deviation } from './checks.js';
import { awaitEvent, taskHistory } from './history.js';
import { lateWriter } from './late-writer.js';
import { makePlan } from './plan.js';
import { race } from './race.js';
import { script } from './script.js';
import type { Stage } from './stage.js';
import { takeover } from './takeover.js';

/** What came of a scene. */
export interface SceneResult {
  readonly name: string;
  readonly title: string;
  /** It happened as told. */
  readonly ok: boolean;
  /** What was compared; empty when the demo did not get that far. */
  readonly checks: readonly Check[];
}

/** What came of the demo. */
export interface Performance {
  readonly planId: string;
  readonly scenes: readonly SceneResult[];
}

const titles = {
  race: 'Two agents reach for one step: one gets it, the other takes the next',
  takeover: 'An agent dies: its lease runs out, another goes on where it stopped',
  'late-writer': 'The dead agent comes back late: its write is refused',
} as const;
type SceneName = keyof typeof titles;

/** Plays the three scenes, and then compares the history with what was told. */
export async function perform(stage: Stage): Promise<Performance> {
  const draft = await makePlan(stage.holdfast, stage.project, '', script.plan);
  const [one, two] = await Promise.all([
    stage.cast(script.agents[0]).then(stage.enter),
    stage.cast(script.agents[1]).then(stage.enter),
  ]);
  const checks = { race: new Checks(), takeover: new Checks(), 'late-writer': new Checks() };
  let atFault: SceneName = 'race';
  const scene = <Result>(name: SceneName, play: (checks: Checks) => Promise<Result>): Promise<Result> => {
    atFault = name;
    stage.timeline.beginScene(name, titles[name]);
    return play(checks[name]);
  };
  try {
    const raced = await scene('race', (checks) => race(stage, draft, [one, two], checks));
    const taken = await scene('takeover', (checks) => takeover(stage, raced, checks));
    await scene('late-writer', (checks) => lateWriter(stage, raced, taken, checks));

    // Positions follow the commits: who sees the last event sees all of them.
    await awaitEvent(stage, { taskId: raced.raced.id, kinds: [EventKind.TASK_COMPLETED] }, 5_000);
    audit(
      { race: checks.race, takeover: checks.takeover, lateWriter: checks['late-writer'] },
      { first: raced.winner.name, second: raced.loser.name },
      await taskHistory(stage, raced.raced.id),
      await taskHistory(stage, raced.other.id),
    );
  } catch (error) {
    if (!(error instanceof Deviation)) checks[atFault].failed('the scene goes on to its end', explain(error));
  }
  const scenes = (Object.keys(titles) as SceneName[]).map((name) => {
    const { list, ok } = checks[name];
    return { name, title: titles[name], ok: ok && list.length > 0, checks: list };
  });
  return { planId: draft.plan.id, scenes };
}
