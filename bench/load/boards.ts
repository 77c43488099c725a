import postgres from 'postgres';
import { driverTarget } from '../../src/cluster/database-url.js';
import { fillBoard } from './fill.js';
import { HttpConnection } from './http-connection.js';
import { type BenchServer, startBenchServer } from './server.js';

/** A server with a board of so many tasks, and one connection to it. */
export interface Board {
  readonly tasks: number;
  readonly server: BenchServer;
  readonly sql: postgres.Sql;
  call<T>(rpc: string, request: object): Promise<T>;
  stop(): Promise<void>;
}

/** Each board has a server and a Postgres of its own: in one database, the small one would have the large one's indexes. */
export async function startBoard(tasks: number): Promise<Board> {
  const server = await startBenchServer();
  const target = driverTarget(server.databaseUrl);
  const sql = postgres(target.url, { ...target.options, max: 1, onnotice: () => {} });
  let connection: HttpConnection | undefined;
  const stop = async () => {
    connection?.close();
    await sql.end({ timeout: 5 });
    await server.stop();
  };
  try {
    await fillBoard(sql, tasks);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    tasks,
    server,
    sql,
    // Made by the first call: the server closes connections that say nothing.
    call: (rpc, request) => {
      connection ??= new HttpConnection(server.port);
      return connection.call(rpc, request, server.token);
    },
    stop,
  };
}
