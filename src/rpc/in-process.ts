import {
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';

/**
 * Carries calls to the API within this process, each as its bearer token's principal. They pass the same interceptors
 * as calls from the network: there is no way around them.
 */
export function inProcessTransport(options: {
  routes: (router: ConnectRouter) => void;
  interceptors: Interceptor[];
  /** Ends streams and calls that wait. */
  shutdownSignal: AbortSignal;
}): (token: string) => Transport {
  const { routes, interceptors, shutdownSignal } = options;
  const transport = createRouterTransport(routes, { router: { interceptors, shutdownSignal } });
  return (token) => {
    const withToken = (header: ConstructorParameters<typeof Headers>[0]) => {
      const headers = new Headers(header);
      headers.set('authorization', `Bearer ${token}`);
      return headers;
    };
    return {
      unary: (method, signal, timeoutMs, header, input, values) =>
        transport.unary(method, signal, timeoutMs, withToken(header), input, values),
      stream: (method, signal, timeoutMs, header, input, values) =>
        transport.stream(method, signal, timeoutMs, withToken(header), input, values),
    };
  };
}
