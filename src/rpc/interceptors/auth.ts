import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { ACCESS } from '../access.js';
import type { Authenticate } from '../authenticate.js';
import { identityKey } from '../call.js';
import { invalidArgument } from '../problems.js';

const SECRET = /^bearer +(hf_[\w-]{43})$/i;

/** Nobody calls without a valid token, and nobody what its role does not allow. */
export function authInterceptor(authenticate: Authenticate): Interceptor {
  return (next) => async (request) => {
    const secret = SECRET.exec(request.header.get('authorization') ?? '')?.[1];
    const identity = secret === undefined ? undefined : await authenticate(secret);
    if (!identity) {
      throw new ConnectError(
        'A valid token is needed: send "authorization: Bearer hf_…". `holdfast token create` makes one.',
        Code.Unauthenticated,
      );
    }
    const rpc = `${request.service.name}/${request.method.name}`;
    const access = ACCESS[rpc];
    if (!access?.roles.includes(identity.role) || (access.owner && !identity.owner)) {
      const allowed = access?.owner ? 'the owner of the server' : (access?.roles ?? []).join(', ');
      throw new ConnectError(
        `${rpc} is not for the role ${identity.role}; it is for ${allowed}.`,
        Code.PermissionDenied,
      );
    }
    if (!request.stream && access.agentsNameExecution && identity.kind === 'AGENT') {
      const { executionId } = request.message as Message & { executionId?: string };
      if (!executionId) throw invalidArgument('execution_id', 'is required of an agent');
    }
    request.contextValues.set(identityKey, identity);
    return next(request);
  };
}
