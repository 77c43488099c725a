import { createConnectTransport } from '@connectrpc/connect-web';
import type { Platform } from './platform.js';

/** The browser's own connections, by fetch. A page is not told in time that it ends: its leases run out. */
export const platform: Platform = {
  openTransport(url, interceptors) {
    const closed = new AbortController();
    const transport = createConnectTransport({
      baseUrl: url,
      interceptors,
      fetch: (input, init) =>
        fetch(input, {
          ...init,
          signal: init?.signal ? AbortSignal.any([init.signal, closed.signal]) : closed.signal,
        }),
    });
    return { transport, close: () => closed.abort() };
  },

  beforeProcessEnds: () => () => {},
};
