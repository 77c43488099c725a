import { createConnectTransport, Http2SessionManager } from '@connectrpc/connect-node';
import type { Platform } from './platform.js';

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One HTTP/2 connection, opened at the first call and again when it broke; and the signals of the process. */
export const platform: Platform = {
  openTransport(url, interceptors) {
    // A half-open connection is noticed by unanswered pings; without them a call would hang until its timeout.
    const sessionManager = new Http2SessionManager(url, { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 });
    const transport = createConnectTransport({
      baseUrl: url,
      httpVersion: '2',
      sessionManager,
      interceptors,
    });
    return { transport, close: () => sessionManager.abort() };
  },

  beforeProcessEnds(beforeEnd) {
    let ending = false;
    const handle = (signal: NodeJS.Signals) => {
      // A program that handles the signal itself decides when its work ends.
      if (process.listenerCount(signal) > 1) return;
      const end = () => {
        undo();
        process.kill(process.pid, signal);
      };
      // Who asks twice does not want to wait.
      if (ending) return end();
      ending = true;
      void beforeEnd(signal).finally(end);
    };
    const undo = () => {
      for (const signal of ENDING) process.off(signal, handle);
    };
    for (const signal of ENDING) process.on(signal, handle);
    return undo;
  },
};
