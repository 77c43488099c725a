import { explain } from '@holdfast/client';
import { type FormEvent, useState } from 'react';
import { openSession, type Session } from './session.js';
import { Logo } from './ui/logo.js';

/** Asks for a token. */
export function SignIn({
  why,
  onSession,
}: {
  why: string | undefined;
  onSession: (session: Session) => void;
}) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState(why);
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      onSession(await openSession({ token: token.trim(), byLink: false }));
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };

  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1>
          <Logo /> Holdfast
        </h1>
        <p className="lead">See who does what, live.</p>
        <label className="field">
          <span>Token</span>
          <input
            type="password"
            value={token}
            placeholder="hf_…"
            autoComplete="off"
            spellCheck={false}
            required
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <div className="hint">
          <p>
            On the server's machine, <code>npx holdfast dashboard</code> prints a link that signs you in.
            Elsewhere, an admin makes a token for you:
          </p>
          <pre>npx holdfast token create NAME --role viewer</pre>
          <p>The token stays in this tab and goes with it.</p>
        </div>
      </form>
    </main>
  );
}
