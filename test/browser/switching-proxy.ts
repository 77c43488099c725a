import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { startTcpProxy } from '../support/tcp-proxy.js';

/** A TCP proxy with an address that stays while the servers behind it come and go. */
export interface SwitchingProxy {
  readonly url: string;
  /** From now on, new connections go to this server. */
  switchTo(serverUrl: string): void;
}

/** Starts a proxy; it ends with the test. */
export async function startSwitchingProxy(serverUrl: string): Promise<SwitchingProxy> {
  let target = new URL(serverUrl);
  const proxy = await startTcpProxy(() => connect(Number(target.port), target.hostname));
  onTestFinished(() => proxy.close());
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    switchTo(serverUrl) {
      target = new URL(serverUrl);
    },
  };
}
