import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type ContextValues, type Interceptor } from '@connectrpc/connect';
import type { Identity } from '../../domain/identity.js';
import { ACCESS } from '../access.js';
import { type Authenticate, secretOf } from '../authenticate.js';
import { identityKey } from '../call.js';
import { peerCertificateKey } from '../peer-certificate.js';
import { invalidArgument } from '../problems.js';
import type { IdentityOfVouched } from '../vouched.js';

const JWT = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

/** Nobody calls without a valid token, and nobody what its role does not allow. */
export function authInterceptor(authenticate: Authenticate, vouched: IdentityOfVouched = {}): Interceptor {
  const identityOf = async (authorization: string, values: ContextValues): Promise<Identity | undefined> => {
    const secret = secretOf(authorization);
    if (secret !== undefined) return authenticate(secret);
    const [, jwt] = JWT.exec(authorization) ?? [];
    if (jwt !== undefined) return vouched.ofJwt?.(jwt);
    // Whoever shows something else with its certificate means that.
    const certificate = authorization === '' ? values.get(peerCertificateKey) : undefined;
    return certificate && vouched.ofCertificate?.(certificate);
  };

  return (next) => async (request) => {
    const identity = await identityOf(request.header.get('authorization') ?? '', request.contextValues);
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
