import type { Logger } from 'pino';
import { HOUR, SECOND } from './domain/instant.js';
import { makePersonToken } from './person-token.js';
import { type Authenticate, secretOf } from './rpc/authenticate.js';
import type { BrowserCheck } from './server/browser-host.js';
import { type HttpRequest, type HttpResponse, pathOf, sendJson, sendWrongMethod } from './server/http.js';
import type { ExtraPages } from './server/pages.js';
import { takeSignInCode } from './sign-in-codes.js';
import type { Store } from './store/store.js';
import { madeFor, revokeToken } from './store/tokens.js';

/** How people get into the dashboard without a token at hand. */
export interface SignInOptions {
  /** Where one-time codes are; absent: there are none. */
  readonly dataDir?: string;
  /** Whoever opens the dashboard may look at the project `default`. */
  readonly visitors?: boolean;
}

/** What the endpoint is built from. */
interface SignInParts {
  readonly store: Store;
  readonly authenticate: Authenticate;
  /** Nobody gets a token through a page of another site. */
  readonly refusal: BrowserCheck;
  readonly log: Logger;
}

/** What signs in by a link lives no longer than a working day. */
const TOKEN_LIFE = 12 * HOUR;
const OWNER = {
  principal: 'owner',
  role: 'admin',
  owner: true,
  lifetime: TOKEN_LIFE,
  madeFor: 'SIGN_IN',
} as const;
const VISITOR = {
  principal: 'visitor',
  role: 'viewer',
  owner: false,
  lifetime: TOKEN_LIFE,
  madeFor: 'VISITORS',
} as const;

/** A code is 43 characters. */
const MAX_BODY_BYTES = 1_024;

/**
 * `/sign-in`: POST `{"code": …}` exchanges a one-time code for a token of the owner, once. GET says whether visitors
 * are let in; to them POST `{"visitor": true}` gives a token that may only read. DELETE signs out: it revokes the token
 * that it comes with, if that was made for a code.
 */
export function signInEndpoint({
  store,
  authenticate,
  refusal,
  log,
  dataDir,
  visitors = false,
}: SignInParts & SignInOptions): ExtraPages {
  // One token for all visitors, as long as it is valid: asking again and again makes nothing.
  let visitor: Promise<string> | undefined;
  const currentVisitor = async (token: Promise<string> | undefined): Promise<string> => {
    const known = await token?.catch(() => undefined);
    const identity = known && (await authenticate(known));
    return known && identity ? known : makePersonToken(store, VISITOR);
  };
  const visitorToken = () => {
    visitor = currentVisitor(visitor);
    return visitor;
  };

  /** Somebody else's token, or one that others use, too, is not this page's to revoke: it is only told so. */
  const signOut = async (req: HttpRequest, res: HttpResponse): Promise<void> => {
    const secret = secretOf(req.headers.authorization);
    const identity = secret && (await authenticate(secret));
    if (!identity) {
      res.setHeader('www-authenticate', 'Bearer');
      refuse(
        req,
        res,
        401,
        'unauthenticated',
        'send the token to sign out with; a revoked one is signed out',
      );
      return;
    }
    const { project, tokenId, principal, kind } = identity;
    const revoked = (await madeFor(store, identity)) === 'SIGN_IN';
    if (revoked) {
      await revokeToken(store, project, tokenId, { principal, kind, executionId: undefined });
      log.info('the owner signed out of the dashboard');
    }
    sendJson(req, res, 200, { revoked });
  };

  return async (req, res) => {
    if (pathOf(req) !== '/sign-in') return false;
    if (req.method === 'GET' || req.method === 'HEAD') {
      sendJson(req, res, 200, { visitors });
      return true;
    }
    if (req.method === 'DELETE') {
      await signOut(req, res);
      return true;
    }
    if (req.method !== 'POST') {
      sendWrongMethod(req, res, ['GET', 'HEAD', 'POST', 'DELETE']);
      return true;
    }
    const foreign = refusal(req);
    if (foreign !== undefined) {
      refuse(req, res, 403, 'permission_denied', foreign);
      return true;
    }
    const asked = await readAsked(req);
    if (asked === undefined) {
      refuse(req, res, 400, 'invalid_argument', 'send {"code": "…"} as JSON');
    } else if (asked.visitor === true && visitors) {
      sendJson(req, res, 200, { token: await visitorToken() });
    } else if (typeof asked.code === 'string' && dataDir && (await takeSignInCode(dataDir, asked.code))) {
      const token = await makePersonToken(store, OWNER);
      log.info({ seconds: TOKEN_LIFE / SECOND }, 'the owner signed in to the dashboard by a link');
      sendJson(req, res, 200, { token });
    } else {
      const advice = 'run `holdfast dashboard` beside the server for a new link, or sign in with a token';
      refuse(req, res, 403, 'permission_denied', `the link was used already, or is too old: ${advice}`);
    }
    return true;
  };
}

function refuse(req: HttpRequest, res: HttpResponse, status: number, code: string, message: string): void {
  sendJson(req, res, status, { code, message });
}

/** The request's JSON object; undefined when it is none, or too long. */
async function readAsked(req: HttpRequest): Promise<{ code?: unknown; visitor?: unknown } | undefined> {
  try {
    let body = '';
    for await (const chunk of req) {
      body += chunk;
      if (body.length > MAX_BODY_BYTES) return undefined;
    }
    const asked: unknown = JSON.parse(body);
    return typeof asked === 'object' && asked !== null ? asked : undefined;
  } catch {
    return undefined;
  }
}
