import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { Role, type WhoAmIResponse } from '@holdfast/proto/project';
import { exact } from './ui/time.js';

/** Who looks at the dashboard, and how it calls the server. */
export interface Session {
  readonly holdfast: Holdfast;
  readonly me: WhoAmIResponse;
  /** May create and change tasks. */
  readonly canWrite: boolean;
  /** May override, force-release, and change settings. */
  readonly isAdmin: boolean;
  /** Is a person, with an inbox. */
  readonly hasInbox: boolean;
}

/** A token, and whether a one-time link brought it: such a one ends when its owner signs out. */
interface Credential {
  readonly token: string;
  readonly byLink: boolean;
}

const TOKEN = 'holdfast-token';
const BY_LINK = 'holdfast-token-by-link';
/** How long the server has to answer that somebody signs out, in ms. */
const SIGN_OUT_MS = 5_000;

/** That of this tab: it is kept nowhere else, and goes with the tab. */
export function storedCredential(): Credential | undefined {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? undefined : { token, byLink: sessionStorage.getItem(BY_LINK) !== null };
}

export function forgetCredential(): void {
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(BY_LINK);
}

function keepCredential({ token, byLink }: Credential): void {
  forgetCredential();
  sessionStorage.setItem(TOKEN, token);
  if (byLink) sessionStorage.setItem(BY_LINK, 'yes');
}

/**
 * Signs in with a token and keeps it for this tab.
 *
 * @throws when the server does not know the token, or does not answer; a token that is not accepted is forgotten
 */
export async function openSession(credential: Credential): Promise<Session> {
  const { token } = credential;
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('A token looks like hf_… and has no spaces.');
  const holdfast = createHoldfast({ url: location.origin, token });
  try {
    const me = await holdfast.projects.whoAmI({});
    keepCredential(credential);
    return {
      holdfast,
      me,
      canWrite: me.role === Role.MEMBER || me.role === Role.ADMIN,
      isAdmin: me.role === Role.ADMIN,
      hasInbox: me.role !== Role.AGENT,
    };
  } catch (error) {
    holdfast.close();
    if (error instanceof ConnectError && error.code === Code.Unauthenticated) forgetCredential();
    throw error;
  }
}

/**
 * Signs out: this tab forgets its token. One that a link brought is revoked, too; others are for whoever has them to keep.
 *
 * @returns what its owner should know: that the server could not be told
 */
export async function closeSession({ holdfast, me }: Session): Promise<string | undefined> {
  const credential = storedCredential();
  holdfast.close();
  forgetCredential();
  if (!credential?.byLink) return undefined;
  try {
    const answer = await fetch('/sign-in', {
      method: 'DELETE',
      headers: { authorization: `Bearer ${credential.token}` },
      // Also when the tab is closed meanwhile.
      keepalive: true,
      signal: AbortSignal.timeout(SIGN_OUT_MS),
    });
    // It may have ended already.
    if (answer.ok || answer.status === 401) return undefined;
  } catch {
    // The same as a server that answers with an error.
  }
  const until = me.expiresAt ? `until ${exact(timestampMs(me.expiresAt))}` : 'until it is revoked';
  return `This tab is signed out, but the server could not be told: the token stays valid ${until}. "npx holdfast token revoke ${me.tokenId}" ends it.`;
}

/** Exchanges the code of a one-time link for a token. Rejects with what the server says. */
export const redeemCode = (code: string): Promise<string> => askForToken({ code });

/** A token that may only read, where the server lets visitors in; else undefined. */
export async function visitorToken(): Promise<string | undefined> {
  const answer = await fetch('/sign-in');
  const { visitors } = (await answer.json()) as { visitors?: boolean };
  return visitors ? askForToken({ visitor: true }) : undefined;
}

async function askForToken(asked: { code: string } | { visitor: true }): Promise<string> {
  const answer = await fetch('/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // The page itself sends no referrer, and to some browsers that is no origin either, by which the server knows it.
    referrerPolicy: 'same-origin',
    body: JSON.stringify(asked),
  });
  const { token, message } = (await answer.json()) as { token?: string; message?: string };
  if (!token) throw new Error(message ?? 'The server did not accept the link.');
  return token;
}
