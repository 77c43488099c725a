import { useLive } from './live/use-live.js';
import { useTick } from './ui/ticker.js';

/** How the page stands to the server, always in view. */
export function ConnectionState() {
  const { live } = useLive();
  const { connection } = live;
  switch (connection.state) {
    case 'live': {
      const { behind } = connection;
      return (
        <span
          className={`connection ${behind > 0 ? 'catching-up' : 'live'}`}
          role="status"
          data-state="live"
          data-behind={behind}
        >
          <span className="lamp" />
          <span className="connection-text">
            {behind > 0 ? `${behind.toLocaleString('en')} behind` : 'Live'}
          </span>
        </span>
      );
    }
    case 'reconnecting':
      return (
        <Reconnecting attempt={connection.attempt} retryAtMs={connection.retryAtMs} why={connection.why} />
      );
    case 'ended':
      return (
        <span className="connection ended" role="status" data-state="ended" title={connection.why}>
          <span className="lamp" />
          <span className="connection-text">Ended: {connection.why}</span>
        </span>
      );
    case 'resting':
    case 'connecting':
      return (
        <span className="connection connecting" role="status" data-state={connection.state}>
          <span className="lamp" />
          <span className="connection-text">Connecting…</span>
        </span>
      );
  }
}

function Reconnecting({ attempt, retryAtMs, why }: { attempt: number; retryAtMs: number; why: string }) {
  useTick();
  const seconds = Math.max(0, Math.ceil((retryAtMs - Date.now()) / 1_000));
  const next = seconds > 0 ? `trying again in ${seconds} s` : 'trying again';
  return (
    <span className="connection reconnecting" data-state="reconnecting" title={why}>
      <span className="lamp" />
      {/* The seconds are for the eye; a screen reader is told once. */}
      <span className="visually-hidden" role="status">
        Reconnecting: {why}
      </span>
      <span className="connection-text" aria-hidden="true">
        Reconnecting, {next}
        {attempt > 1 && ` (attempt ${attempt})`}
      </span>
    </span>
  );
}
