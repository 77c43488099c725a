import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { HistoryService } from '@holdfast/proto/history';
import { LeaseService } from '@holdfast/proto/lease';
import { ProjectService } from '@holdfast/proto/project';
import { TaskService } from '@holdfast/proto/task';
import { platform } from '#platform';
import { typedError } from './errors.js';
import { DEFAULT_ATTEMPTS, withRetries } from './retry.js';

/** Where the server is and who calls. */
export interface HoldfastOptions {
  /** The server's address, such as `http://localhost:7420`. */
  url: string;
  /** The caller's token, `hf_…`. */
  token: string;
  /** Names this run of the caller, 1–256 printable characters; a random one by default. */
  executionId?: string;
  /** Instead of a connection to `url`: carries the calls. It must add the token by itself. */
  transport?: Transport;
  /**
   * How often a call is sent at most, 5 by default; 1: never again. Sent again is only what cannot be done twice (what
   * reads, and what has a request id), when no answer came; never what the server refused.
   */
  attempts?: number;
}

/**
 * The API as typed clients. They throw {@link WriteRejected}, {@link InvalidRequest}, or a ConnectError with its code.
 */
export interface Holdfast {
  readonly tasks: Client<typeof TaskService>;
  readonly leases: Client<typeof LeaseService>;
  readonly history: Client<typeof HistoryService>;
  readonly projects: Client<typeof ProjectService>;
  /** The execution in whose name leases are acquired. */
  readonly executionId: string;
  /** Closes the connection, so that the process can end. */
  close(): void;
}

/**
 * Makes typed clients for one server. Connects at the first call: over one HTTP/2 connection in Node, by fetch in
 * browsers.
 * Throws a TypeError when `url` is no http(s) address.
 */
export function createHoldfast(options: HoldfastOptions): Holdfast {
  const closed = new AbortController();
  const { transport, close } = options.transport
    ? { transport: options.transport, close: () => {} }
    : platform.openTransport(checkedUrl(options.url), [bearer(options.token)]);
  const typed = withTypedErrors(withRetries(transport, options.attempts ?? DEFAULT_ATTEMPTS, closed.signal));
  return {
    tasks: createClient(TaskService, typed),
    leases: createClient(LeaseService, typed),
    history: createClient(HistoryService, typed),
    projects: createClient(ProjectService, typed),
    executionId: options.executionId ?? crypto.randomUUID(),
    close() {
      closed.abort(new ConnectError('the client is closed', Code.Canceled));
      close();
    },
  };
}

function checkedUrl(url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`"${url}" is not a server's address; it looks like http://localhost:7420`);
  }
  return url;
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };
}

// Not an interceptor: Connect wraps what those throw into ConnectErrors of its own.
function withTypedErrors(transport: Transport): Transport {
  return {
    unary: (...call) => transport.unary(...call).catch(rethrowTyped),
    stream: (...call) => transport.stream(...call).catch(rethrowTyped),
  };
}

function rethrowTyped(error: unknown): never {
  throw typedError(error);
}
