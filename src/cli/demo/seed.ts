import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { resolveConnection } from '../connection.js';
import { openSession, type Session, type SharedOptions } from '../session.js';
import { readSettings } from '../settings.js';
import { makePlan } from './plan.js';
import { type SeededAgent, seedText } from './seed-text.js';

/** How a plan for real agents is made. */
export interface SeedOptions extends SharedOptions {
  /** Also make a token for each agent. */
  tokens?: boolean;
}

const draft = {
  title: 'Demo: two poems',
  body: 'Two steps that wait for nothing, so that two agents can claim them at once.',
  steps: [
    {
      title: 'Write a limerick about two agents who want the same task',
      body: 'Five lines. The result of this step is the poem.',
    },
    {
      title: 'Write a haiku about a lease that runs out',
      body: 'Three lines. The result of this step is the poem.',
    },
  ],
};

/** Makes a plan with two claimable steps on a running server, and prints how to set two real agents to it. */
export async function seed(options: SeedOptions): Promise<void> {
  const session = await openSession(options);
  const { holdfast, out, project } = session;
  try {
    const { plan, steps } = await makePlan(holdfast, project, await session.writer(), draft);
    const run = plan.id.slice(-6);
    const agents: SeededAgent[] = [];
    for (const principal of ['agent-1', 'agent-2']) {
      const token = options.tokens ? await agentToken(session, principal) : undefined;
      agents.push({ principal, executionId: `${principal}-${run}`, ...(token ? { token } : {}) });
    }
    const { project: place } = await holdfast.projects.getProject({ project });
    const { url } = resolveConnection(options, readSettings());
    const texts = seedText({ url, place, given: project, plan, steps, agents }, out.style);
    if (out.json) {
      const shown = {
        plan: { id: plan.id, title: plan.title },
        steps: steps.map(({ id, title }) => ({ id, title })),
        url,
        project: place?.id,
        agents,
        prompt: texts.prompt,
      };
      process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    } else {
      process.stdout.write(`${texts.page}\n`);
      if (options.tokens) out.note('\nThe tokens are never shown again; `holdfast token revoke` ends them.');
    }
  } finally {
    holdfast.close();
  }
}

async function agentToken({ holdfast, project }: Session, principal: string): Promise<string> {
  const { token } = await holdfast.projects.createToken({
    project,
    principal,
    kind: PrincipalKind.AGENT,
    role: Role.AGENT,
  });
  return token;
}
