import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import type { Agent, AgentIdentity, StartAgent } from './agent.js';
import type { Place } from './place.js';
import { type Audience, Timeline } from './timeline.js';

// The agents' tokens outlive the demo by no more than this.
const TOKEN_LIFE_MS = 10 * 60_000;

/** Where the demo plays: a server, a project there that is in ENFORCE, and the agents. */
export interface Stage {
  /** As the owner of the server. */
  readonly holdfast: Holdfast;
  readonly project: string;
  readonly timeline: Timeline;
  /** Makes a token for an agent and says who it then is. */
  cast(name: string): Promise<AgentIdentity>;
  /** Starts an agent. */
  enter(identity: AgentIdentity): Promise<Agent>;
  /** Ends all agents' processes, and the connection. */
  close(): Promise<void>;
}

/** Opens a stage. Nothing is sent yet. */
export function openStage({ connection, project }: Place, start: StartAgent, audience: Audience): Stage {
  const holdfast = createHoldfast(connection);
  const entering: Promise<Agent>[] = [];
  return {
    holdfast,
    project,
    timeline: new Timeline(audience),
    async cast(name) {
      const { token } = await holdfast.projects.createToken({
        project,
        principal: name,
        kind: PrincipalKind.AGENT,
        role: Role.AGENT,
        expiresIn: durationFromMs(TOKEN_LIFE_MS),
      });
      return { url: connection.url, token, name, executionId: `${name}-run-1` };
    },
    enter(identity) {
      const agent = start(identity);
      entering.push(agent);
      return agent;
    },
    async close() {
      await Promise.all(
        (await Promise.allSettled(entering)).map((agent) => 'value' in agent && agent.value.kill()),
      );
      holdfast.close();
    },
  };
}
