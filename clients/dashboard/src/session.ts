import { Code, ConnectError } from '@connectrpc/connect';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { Role, type WhoAmIResponse } from '@holdfast/proto/project';

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

const KEY = 'holdfast-token';

/** The token of this tab: it is kept nowhere else, and goes with the tab. */
export const storedToken = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

export const forgetToken = (): void => sessionStorage.removeItem(KEY);

/**
 * Signs in with a token and keeps it for this tab.
 *
 * @throws when the server does not know the token, or does not answer; a token that is not accepted is forgotten
 */
export async function openSession(token: string): Promise<Session> {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('A token looks like hf_… and has no spaces.');
  const holdfast = createHoldfast({ url: location.origin, token });
  try {
    const me = await holdfast.projects.whoAmI({});
    sessionStorage.setItem(KEY, token);
    return {
      holdfast,
      me,
      canWrite: me.role === Role.MEMBER || me.role === Role.ADMIN,
      isAdmin: me.role === Role.ADMIN,
      hasInbox: me.role !== Role.AGENT,
    };
  } catch (error) {
    holdfast.close();
    if (error instanceof ConnectError && error.code === Code.Unauthenticated) forgetToken();
    throw error;
  }
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
    body: JSON.stringify(asked),
  });
  const { token, message } = (await answer.json()) as { token?: string; message?: string };
  if (!token) throw new Error(message ?? 'The server did not accept the link.');
  return token;
}
