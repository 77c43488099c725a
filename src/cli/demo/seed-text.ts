import { Enforcement } from '@holdfast/proto/guard';
import type { Project } from '@holdfast/proto/project';
import type { Plan, Task } from '@holdfast/proto/task';
import type { Style } from '../style.js';
import { indented, oneLine } from '../text.js';

/** One of the two real agents. */
export interface SeededAgent {
  principal: string;
  executionId: string;
  token?: string;
}

/** What was made, and where. */
interface Seeded {
  url: string;
  place: Project | undefined;
  /** The project that was asked for; empty: the token's. */
  given: string;
  plan: Plan;
  steps: Task[];
  agents: SeededAgent[];
}

/** The page for the person who sets the agents to work, and the prompt for the agents. */
export function seedText(seeded: Seeded, style: Style): { page: string; prompt: string } {
  const { url, place, given, plan, steps, agents } = seeded;
  const prompt = promptText(plan, steps);
  const there = `--url ${url}${given ? ` --project ${given}` : ''}`;
  const sections = [
    `${style.green('Made')} the plan ${style.bold(oneLine(plan.title))} (${plan.id}) in the project ${oneLine(place?.id ?? given)}:\n` +
      indented(steps.map(({ id, title }) => `${id}  ${oneLine(title)}`).join('\n')),
    ...agents.map(
      (agent, at) =>
        `${style.bold(`${at + 1}. Start an agent in a terminal with`)}\n${indented(environment(agent, url, there))}`,
    ),
    `${style.bold('Give both the same prompt, at the same time')}\n${indented(prompt)}`,
    `${style.bold('See what they do')}\n${indented(`npx holdfast plan show ${plan.id} ${there}\nnpx holdfast history --oldest-first ${there}`)}`,
  ];
  if (place && place.effectiveSettings?.enforcement !== Enforcement.ENFORCE) {
    const mode = Enforcement[place.effectiveSettings?.enforcement ?? 0];
    sections.push(
      `The project is in ${mode}: writes without a valid lease are not refused. To refuse them:\n` +
        indented(`npx holdfast project update --enforcement enforce ${there}`),
    );
  }
  return { page: sections.join('\n\n'), prompt };
}

function environment({ principal, executionId, token }: SeededAgent, url: string, there: string): string {
  return [
    `export HOLDFAST_URL=${url}`,
    `export HOLDFAST_TOKEN=${token ?? `$(npx holdfast token create ${principal} ${there})`}`,
    `export HOLDFAST_EXECUTION_ID=${executionId}`,
  ].join('\n');
}

function promptText(plan: Plan, steps: Task[]): string {
  const first = steps[0]?.id ?? '';
  return `You share a plan with another agent. Work on it with the command \`npx holdfast\`; HOLDFAST_URL,
HOLDFAST_TOKEN and HOLDFAST_EXECUTION_ID are set and must stay as they are.
1. See the steps:           npx holdfast plan show ${plan.id}
2. Claim the first open one: npx holdfast claim ${first} --ttl 5m
   Exit code 3 means that the other agent has it: claim the other step instead, do not wait.
   When the claim tells of earlier notes, go on from there.
3. Note how far you are:    npx holdfast task note STEP "half done: ..."
   Work longer than 5 minutes? Before they are over: npx holdfast renew STEP
4. Finish:                  npx holdfast task done STEP --result "what came of it"
   Or give it back:         npx holdfast release STEP --note "why, and how far it is"
Never work on a step that you have not claimed. When a command says that your lease is lost, or
refuses with STALE_LOCK, stop working on that step. Go on until no step is open.`;
}
