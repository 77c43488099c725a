import { usePlace } from '../live/use-live.js';
import { Abandoned } from './abandoned.js';
import { EnforcementReport } from './enforcement-report.js';
import { InboxList } from './inbox-list.js';
import { Webhooks } from './webhooks.js';

/** What a person should look at: work that was left, writes without a lease, and what could not be told. */
export function AttentionPage() {
  const { session } = usePlace();
  return (
    <div className="attention-page">
      <div>
        <Abandoned />
        {session.hasInbox && <InboxList />}
      </div>
      <div>
        <EnforcementReport />
        {session.isAdmin && <Webhooks />}
      </div>
    </div>
  );
}
