import { fork } from 'node:child_process';
import { once } from 'node:events';
import { packageFile } from '../../package-file.js';
import type { Connection } from '../connection.js';
import type { KeeperReport } from './server-keeper.js';

const keeperScript = packageFile('dist/bundle/server-keeper.js');

/** A server that lives no longer than this process, and leaves nothing behind. */
export interface ThrowAwayServer {
  /** Where it listens, with its owner's token. Rejects when it could not start; call `stop` then, too. */
  readonly ready: Promise<Connection>;
  /** Stops it and its Postgres, and removes its folder. Also while it still starts. */
  stop(): Promise<void>;
}

/**
 * Starts `holdfast serve` in ENFORCE, in a new temporary folder.
 *
 * @param options of `holdfast serve`; without any, it listens on a free port of this machine
 */
export function startThrowAwayServer(options: readonly string[] = ['--port', '0']): ThrowAwayServer {
  const keeper = fork(keeperScript, options, {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // The terminal's Ctrl-C is for the demo, which then stops the server in good order.
    detached: true,
  });
  const exited = once(keeper, 'exit');
  const report = Promise.race([
    once(keeper, 'message').then(([report]) => report as KeeperReport),
    exited.then((): KeeperReport => ({ error: "the demo's own server could not be started" })),
  ]);
  const ready = report.then((told) => {
    if ('error' in told) throw new Error(told.error);
    return told.connection;
  });
  // `stop` may come before anybody waits for it.
  ready.catch(() => {});
  return {
    ready,
    async stop() {
      if (keeper.connected) keeper.disconnect();
      const [code] = await exited;
      if (code !== 0) throw new Error("the demo's own server could not be taken away; see above");
    },
  };
}
