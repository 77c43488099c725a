import { constants } from 'node:os';
import { ExitCode } from '../exit.js';
import { onSignals } from '../signals.js';
import type { StartAgent } from './agent.js';
import type { CleanUp } from './clean-up.js';
import type { Finale } from './finale.js';
import { perform } from './performance.js';
import { guestPlace, ownPlace } from './place.js';
import { type Showing, showJson, showLanes } from './showing.js';
import { openStage } from './stage.js';

/** How the demo is to run. */
export interface DemoOptions {
  /** The address of a running server; absent: a server of the demo's own. */
  against?: string;
  token?: string;
  /** The agents use MCP, each through a `holdfast mcp` of its own; absent: the TypeScript client. */
  mcp?: boolean;
  json?: boolean;
}

/** The demo was stopped by a signal. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

/**
 * Plays the demo and returns the exit code: 0 only when all happened as told. Whatever happens, also Ctrl-C, it leaves
 * no process and no folder behind. Rejects when it could not begin: no such server, or not its owner.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const interruption = new AbortController();
  const stopListening = onSignals((signal) => interruption.abort(new Interrupted(signal)));
  const interrupted = rejectOnAbort(interruption.signal);
  const showing = options.json ? showJson() : showLanes();
  const cleanUps: CleanUp[] = [];
  let finale: Finale;
  try {
    finale = await Promise.race([play(options, showing, cleanUps, interruption.signal), interrupted]);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 128 + constants.signals[error.signal];
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
    stopListening();
  }
  showing.finale(finale);
  return finale.scenes.every((scene) => scene.ok) ? ExitCode.DONE : ExitCode.FAILED;
}

async function play(
  { against, token, mcp = false }: DemoOptions,
  showing: Showing,
  cleanUps: CleanUp[],
  signal: AbortSignal,
): Promise<Finale> {
  const began = performance.now();
  const guest = against ? await guestPlace(against, token) : undefined;
  showing.opening({ against, mcp });
  const place = guest ?? (await ownPlace(cleanUps));
  signal.throwIfAborted();
  const stage = openStage(place, await agentsOver(mcp), showing);
  cleanUps.push(() => stage.close());
  const performed = await perform(stage);
  const durationMs = Math.round(performance.now() - began);
  return { place, ...performed, events: stage.timeline.entries, durationMs };
}

async function agentsOver(mcp: boolean): Promise<StartAgent> {
  if (mcp) return (await import('./bridge-agent.js')).BridgeAgent.start;
  return (await import('./client-agent.js')).ClientAgent.start;
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
