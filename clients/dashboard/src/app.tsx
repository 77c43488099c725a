import { explain } from '@holdfast/client';
import { useEffect, useState } from 'react';
import { parseRoute } from './route.js';
import { forgetToken, openSession, redeemCode, type Session, storedToken, visitorToken } from './session.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';

type State =
  | { readonly at: 'opening' }
  | { readonly at: 'signed-out'; readonly why?: string }
  | { readonly at: 'signed-in'; readonly session: Session };

// The code is taken out of the address before anything else happens: it is not to be in the history of the browser.
const route = parseRoute(location.hash);
const linkCode = route.page === 'sign-in' ? route.code : undefined;
if (linkCode) history.replaceState(null, '', location.pathname);

// A link that is pasted into an open tab loads no page by itself.
addEventListener('hashchange', () => {
  if (parseRoute(location.hash).page === 'sign-in') location.reload();
});

let firstSession: Promise<Session | undefined> | undefined;

/** By the link, else by this tab's token, else as a visitor. Asked once, however often React mounts the page. */
function openFirstSession(): Promise<Session | undefined> {
  firstSession ??= (async () => {
    const token = (linkCode ? await redeemCode(linkCode) : storedToken()) ?? (await visitorToken());
    return token === undefined ? undefined : openSession(token);
  })();
  return firstSession;
}

export function App() {
  const [state, setState] = useState<State>({ at: 'opening' });

  useEffect(() => {
    openFirstSession().then(
      (session) => setState(session ? { at: 'signed-in', session } : { at: 'signed-out' }),
      (error) => setState({ at: 'signed-out', why: explain(error) }),
    );
  }, []);

  const signOut = (why?: string) => {
    if (state.at === 'signed-in') state.session.holdfast.close();
    forgetToken();
    setState({ at: 'signed-out', ...(why && { why }) });
  };

  if (state.at === 'opening') return <p className="opening">Connecting…</p>;
  if (state.at === 'signed-out') {
    return <SignIn why={state.why} onSession={(session) => setState({ at: 'signed-in', session })} />;
  }
  return <Shell session={state.session} onSignOut={signOut} />;
}
