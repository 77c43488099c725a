import { styleFor } from '../style.js';
import type { Finale } from './finale.js';
import { drawLanes, legend } from './lanes.js';
import { script } from './script.js';
import { summary } from './summary.js';
import type { Audience } from './timeline.js';
import { wrap } from './wrap.js';

/** How the demo is shown, from its first words to its last. */
export interface Showing extends Audience {
  opening(opening: Opening): void;
  finale(finale: Finale): void;
}

/** What the demo is about to do. */
interface Opening {
  /** The address of the server it plays on; undefined: one of its own. */
  readonly against: string | undefined;
  /** Whether the agents use MCP. */
  readonly mcp: boolean;
}

const write = (text: string) => process.stdout.write(`${text}\n`);

/** For people: lanes that grow while the demo plays, and closing words. */
export function showLanes(): Showing {
  const style = styleFor(process.stdout);
  const width = process.stdout.columns ?? 80;
  return {
    opening({ against, mcp }) {
      const where = against
        ? `on ${against}, in a project of its own`
        : 'on a server of its own, which takes a moment to start';
      const who = mcp ? 'agents, each with a `holdfast mcp` of its own,' : 'processes';
      const words = `${script.agents.join(' and ')} are two ${who} that share a plan of two steps, ${where}. Writes without a valid lease are refused (ENFORCE).`;
      write(style.bold('Holdfast demo'));
      write(`${wrap(words.split(' '), width).join('\n')}\n`);
      write(legend(style, width));
    },
    ...drawLanes([...script.agents, 'holdfast'], style, width, write),
    finale: (finale) => write(`\n${summary(finale, style)}`),
  };
}

/** For programs: one JSON document at the end. */
export function showJson(): Showing {
  return {
    opening() {},
    scene() {},
    entry() {},
    finale({ place, ...played }) {
      const { connection, own, project } = place;
      const ok = played.scenes.every((scene) => scene.ok);
      write(JSON.stringify({ ok, server: { url: connection.url, own }, project, ...played }, null, 2));
    },
  };
}
