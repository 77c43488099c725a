import { createHash } from 'node:crypto';
import { type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';
import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { Identity } from '../domain/identity.js';
import type { Caller } from '../domain/principal.js';
import { projectExists } from '../store/projects.js';
import { findRequest, type RememberedRequest, type RequestKey } from '../store/requests.js';
import type { Store } from '../store/store.js';
import { ProblemError } from './problems.js';

/** Who calls, put there by the auth interceptor. */
export const identityKey = createContextKey<Identity | undefined>(undefined, { description: 'identity' });

/** One call: who, in which project, on behalf of which execution. */
export interface Call {
  readonly identity: Identity;
  readonly caller: Caller;
  readonly project: string;
  /** Names the attempt, when the caller may repeat it. */
  readonly request: RequestKey | undefined;
  /** Aborted when the caller is gone or the server shuts down: for calls that wait. */
  readonly signal: AbortSignal;
}

type ApiMessage = Message & { project?: string; executionId?: string; requestId?: string };

/** Works out the call behind a message. Another project's things are not there: NOT_FOUND. */
export async function callOf(store: Store, message: ApiMessage, context: HandlerContext): Promise<Call> {
  const identity = context.values.get(identityKey);
  if (!identity) throw new Error('an RPC was routed around the auth interceptor');
  const creates = context.method.name === 'CreateProject';
  return {
    identity,
    caller: {
      principal: identity.principal,
      kind: identity.kind,
      role: identity.role,
      owner: identity.owner,
      executionId: message.executionId || undefined,
    },
    project: creates ? identity.project : await projectOf(store, identity, message.project),
    request: message.requestId
      ? {
          principal: identity.principal,
          rpc: context.method.name,
          requestId: message.requestId,
          bodyHash: bodyHash(context.method.input, message),
        }
      : undefined,
    signal: context.signal,
  };
}

async function projectOf(store: Store, identity: Identity, named: string | undefined): Promise<string> {
  if (!named || named === identity.project) return identity.project;
  if (identity.owner && (await projectExists(store, named))) return named;
  throw new ProblemError({
    kind: 'NOT_FOUND',
    message: `There is no project ${JSON.stringify(named)} that you may see.`,
  });
}

function bodyHash(schema: DescMessage, message: Message): string {
  return createHash('sha256').update(toBinary(schema, message)).digest('hex');
}

/**
 * What came of this request when it was applied before.
 *
 * @throws ProblemError when it was another request under the same id
 */
export function repeated(request: RememberedRequest): string {
  if (!request.sameBody) {
    throw new ProblemError({
      kind: 'ALREADY_EXISTS',
      message: 'This request_id was used for another request. Use a new one for each new request.',
    });
  }
  return request.ref;
}

/** The reference of an earlier application of this call, if there was one. */
export async function earlier(store: Store, { project, request }: Call): Promise<string | undefined> {
  const found = request && (await findRequest(store.database.sql, project, request));
  return found && repeated(found);
}
