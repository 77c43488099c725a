import { createHoldfast, type Holdfast } from '@holdfast/client';
import { Enforcement } from '@holdfast/proto/guard';
import { type Connection, resolveConnection } from '../connection.js';
import { readSettings } from '../settings.js';
import type { CleanUp } from './clean-up.js';

/** Where the demo can play: a server, as its owner, and a project there that is in ENFORCE. */
export interface Place {
  readonly connection: Connection;
  readonly project: string;
  /** The server is the demo's own, and goes with it. */
  readonly own: boolean;
}

/** Starts a server for the demo alone. What takes it away again is added to `cleanUps` at once. */
export async function ownPlace(cleanUps: CleanUp[]): Promise<Place> {
  const { startThrowAwayServer } = await import('./throw-away-server.js');
  const server = startThrowAwayServer();
  cleanUps.push(() => server.stop());
  return { connection: await server.ready, project: 'default', own: true };
}

/**
 * Makes a project for the demo on a server that runs.
 * Rejects with an Error that says what to do when the caller is not the server's owner.
 */
export async function guestPlace(url: string, token: string | undefined): Promise<Place> {
  const connection = resolveConnection({ url, ...(token ? { token } : {}) }, readSettings());
  const holdfast = createHoldfast(connection);
  try {
    return { connection, project: await createDemoProject(holdfast), own: false };
  } finally {
    holdfast.close();
  }
}

async function createDemoProject(holdfast: Holdfast): Promise<string> {
  const me = await holdfast.projects.whoAmI({});
  if (!me.owner) {
    throw new Error(
      `the demo makes a project of its own, which only the owner of the server can; the token is ${me.principal}'s\n` +
        "Give the owner's with --token or HOLDFAST_TOKEN (it is in admin-token in the server's data folder), " +
        'or leave --against away: then the demo runs a server of its own.',
    );
  }
  const project = `demo-${crypto.randomUUID().slice(0, 8)}`;
  await holdfast.projects.createProject({
    project,
    title: 'Holdfast demo',
    settings: { enforcement: Enforcement.ENFORCE },
    requestId: crypto.randomUUID(),
  });
  return project;
}
