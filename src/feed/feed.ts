import type { CommitListener, Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';
import { createExpiryTimer } from './expiry-timer.js';
import { createHousekeeping } from './housekeeping.js';
import { createSequencer, type Sequencer } from './sequencer.js';

/** All that runs beside the requests. */
export interface Feed extends Background {
  readonly sequencer: Sequencer;
}

/** The store's commits, to be heard by a feed that is made after the store. */
export interface CommitRelay extends CommitListener {
  listener: CommitListener | undefined;
}

export function createCommitRelay(): CommitRelay {
  const relay: CommitRelay = {
    listener: undefined,
    eventsWritten: () => relay.listener?.eventsWritten(),
    deadlineSet: (remaining) => relay.listener?.deadlineSet(remaining),
  };
  return relay;
}

export function startFeed(store: Store, relay: CommitRelay, onFault: FaultListener): Feed {
  const sequencer = createSequencer(store, onFault);
  const expiry = createExpiryTimer(store, onFault);
  const housekeeping = createHousekeeping(store, onFault);
  relay.listener = { eventsWritten: sequencer.request, deadlineSet: expiry.deadlineSet };
  return {
    sequencer,
    async stop() {
      await Promise.all([expiry.stop(), housekeeping.stop()]);
      await sequencer.stop();
    },
  };
}
