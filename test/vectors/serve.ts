/**
 * Starts a database and a server for the test vectors, prints one JSON line that says where, and ends when its
 * stdin does. README.md says how to use it.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { pino } from 'pino';
import postgres from 'postgres';
import { driverTarget } from '../../src/cluster/database-url.js';
import { HOUR, MINUTE } from '../../src/domain/instant.js';
import { startService } from '../../src/service.js';
import { migrate } from '../../src/store/migrate.js';
import { withDatabase } from '../support/database-name.js';
import { makeOwner } from '../support/owner.js';
import { startTestServer } from '../support/postgres-server.js';
import { startFaultProxy } from './fault-proxy.js';

interface Act {
  act: string;
  project?: string;
}

const defaults = {
  enforcement: 'WARN',
  defaultTtl: 15 * MINUTE,
  maxTtl: 2 * HOUR,
  maxAge: 24 * HOUR,
  maxExpiries: 5,
} as const;
const log = pino({ level: 'error' }, process.stderr);

const cluster = await startTestServer();
const name = `holdfast_vectors_${randomUUID().slice(0, 8)}`;
const administrator = open(cluster.url);
await administrator.unsafe(`create database ${name}`);
const databaseUrl = withDatabase(cluster.url, name);
await migrate({ url: databaseUrl });
const ownerToken = await makeOwner(databaseUrl, defaults);
const sql = open(databaseUrl);
let service = await serve();
const { port } = service.address;
const steady = await startFaultProxy(port);
const faulty = await startFaultProxy(port);

const acts: Record<string, (act: Act) => unknown> = {
  lose_next_answer: () => faulty.loseNextAnswer(),
  silence: () => faulty.silence(),
  heal: () => faulty.heal(),
  restart: async () => {
    await service.stop();
    service = await serve();
    for (const proxy of [steady, faulty]) proxy.moveTo(service.address.port);
  },
  prune: ({ project = '' }) => prune(project),
  restore: () => sql`UPDATE meta SET epoch = ${randomUUID()}`,
};

const control = createServer(async (request, response) => {
  try {
    const act = (await json(request)) as Act;
    const perform = Object.hasOwn(acts, act.act) ? acts[act.act] : undefined;
    if (!perform) throw new Error(`"${act.act}" is not one of ${Object.keys(acts)}`);
    await perform(act);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
});
control.listen(0, '127.0.0.1');
await once(control, 'listening');

process.stdout.write(
  `${JSON.stringify({
    url: steady.url,
    faultyUrl: faulty.url,
    controlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    ownerToken,
  })}\n`,
);

process.stdin.resume();
await Promise.race([once(process.stdin, 'close'), once(process, 'SIGTERM'), once(process, 'SIGINT')]);
control.close();
control.closeAllConnections();
steady.close();
faulty.close();
await service.stop();
await sql.end();
await administrator.unsafe(`drop database if exists ${name} with (force)`);
await administrator.end();
await cluster.stop();
process.exit(0);

function serve() {
  const webhooks = { allowPrivate: false };
  return startService({ databaseUrl, defaults, host: '127.0.0.1', port: 0, webhooks, log });
}

/** Forgets what happened in a project so far, as the retention of the history does. */
async function prune(project: string): Promise<void> {
  await sql.begin(async (transaction) => {
    const [head] = await transaction`
      UPDATE history_head SET floor = position WHERE project = ${project} RETURNING position`;
    if (!head) throw new Error(`there is no project "${project}"`);
    await transaction`DELETE FROM event WHERE project = ${project} AND position <= ${head.position}`;
  });
}

function open(url: string): postgres.Sql {
  const target = driverTarget(url);
  return postgres(target.url, { ...target.options, max: 1, onnotice: () => {} });
}
