import { explain } from '@holdfast/client';
import { useEffect, useState } from 'react';
import { parseRoute } from './route.js';
import {
  closeSession,
  forgetCredential,
  openSession,
  redeemCode,
  type Session,
  storedCredential,
  visitorToken,
} from './session.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';

type State =
  | { readonly at: 'opening' }
  | { readonly at: 'signed-out'; readonly why?: string }
  | { readonly at: 'signed-in'; readonly session: Session }
  | { readonly at: 'signing-out' };

// The code is taken out of the address before anything else happens: it is not to be in the history of the browser.
const route = parseRoute(location.hash);
const linkCode = route.page === 'sign-in' ? route.code : undefined;
if (linkCode) history.replaceState(null, '', location.pathname);

// A link that is pasted into an open tab loads no page by itself.
addEventListener('hashchange', () => {
  if (parseRoute(location.hash).page === 'sign-in') location.reload();
});

/** By the link, else by this tab's token, else as a visitor. */
async function firstSession(): Promise<Session | undefined> {
  const stored = linkCode === undefined ? storedCredential() : undefined;
  let why: unknown;
  try {
    if (linkCode !== undefined) return await openSession({ token: await redeemCode(linkCode), byLink: true });
    if (stored !== undefined) return await openSession(stored);
  } catch (error) {
    // A token of this tab that is not good any more is no reason to let nobody in.
    if (stored === undefined || storedCredential() !== undefined) throw error;
    why = error;
  }
  const token = await visitorToken();
  if (token !== undefined) return openSession({ token, byLink: false });
  if (why !== undefined) throw why;
  return undefined;
}

let opening: Promise<Session | undefined> | undefined;

/** Asked once, however often React mounts the page. */
function openFirstSession(): Promise<Session | undefined> {
  opening ??= firstSession();
  return opening;
}

export function App() {
  const [state, setState] = useState<State>({ at: 'opening' });

  useEffect(() => {
    openFirstSession().then(
      (session) => setState(session ? { at: 'signed-in', session } : { at: 'signed-out' }),
      (error) => setState({ at: 'signed-out', why: explain(error) }),
    );
  }, []);

  const signedOut = (why: string | undefined) => setState({ at: 'signed-out', ...(why && { why }) });
  const signOut = (session: Session) => {
    setState({ at: 'signing-out' });
    void closeSession(session).then(signedOut);
  };
  const lose = (session: Session, why: string) => {
    session.holdfast.close();
    forgetCredential();
    signedOut(why);
  };

  if (state.at === 'opening') return <p className="opening">Connecting…</p>;
  if (state.at === 'signing-out') return <p className="opening">Signing out…</p>;
  if (state.at === 'signed-out') {
    return <SignIn why={state.why} onSession={(session) => setState({ at: 'signed-in', session })} />;
  }
  const { session } = state;
  return <Shell session={session} onSignOut={() => signOut(session)} onLost={(why) => lose(session, why)} />;
}
