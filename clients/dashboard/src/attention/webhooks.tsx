import { EventKind } from '@holdfast/proto/history';
import type { Webhook } from '@holdfast/proto/project';
import { useEffect, useState } from 'react';
import { useLive } from '../live/use-live.js';
import { Icon } from '../ui/icon.js';

const TELLING: readonly EventKind[] = [
  EventKind.WEBHOOK_CREATED,
  EventKind.WEBHOOK_DELETED,
  EventKind.WEBHOOK_FAILED,
];
/** Deliveries that wait or get through are no events. In ms. */
const LOOK_EVERY_MS = 15_000;

/** Where notifications are posted to, and what does not get through. */
export function Webhooks() {
  const { live } = useLive();
  const [webhooks, setWebhooks] = useState<readonly Webhook[]>();
  const { state } = live.connection;
  useEffect(() => {
    if (state !== 'live') return;
    const read = () => {
      live.holdfast.projects.listWebhooks({ project: live.project, pageSize: 100 }).then(
        (answer) => setWebhooks(answer.webhooks),
        () => {},
      );
    };
    read();
    const timer = setInterval(read, LOOK_EVERY_MS);
    const stop = live.onEvent(({ kind }) => TELLING.includes(kind) && read());
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [live, state]);

  return (
    <section className="box">
      <h2>
        <Icon name="link" /> Webhooks {webhooks && <span className="count">{webhooks.length}</span>}
      </h2>
      {webhooks?.length === 0 && (
        <>
          <p className="nothing">
            Nobody is told of expired leases but the people here. To post them elsewhere:
          </p>
          <pre>npx holdfast project webhooks add https://example.com/hook</pre>
        </>
      )}
      <ul className="rows">
        {webhooks?.map(({ id, url, pending, dead, lastError }) => (
          <li key={id} className={`row tone-${lastError || dead > 0 ? 'refused' : 'completed'}`}>
            <span className="row-title">{url}</span>
            <span className="row-more">
              {pending === 0 && dead === 0 && !lastError && 'everything got through'}
              {pending > 0 && `${pending} waiting `}
              {dead > 0 && `${dead} given up `}
              {lastError}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
