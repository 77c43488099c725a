import type { CommitListener, Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';
import { createExpiryTimer } from './expiry-timer.js';
import { listenForHints } from './hints.js';
import { createHousekeeping } from './housekeeping.js';
import { createSequencer, type Sequencer } from './sequencer.js';
import { createStatistics } from './statistics.js';
import { createWaitingRoom, type WaitingRoom } from './waiting-room.js';

/** All that runs beside the requests. */
export interface Feed extends Background {
  readonly sequencer: Sequencer;
  readonly waiting: WaitingRoom;
}

/** The store's commits, to be heard by a feed that is made after the store. */
export interface CommitRelay extends CommitListener {
  listener: CommitListener | undefined;
}

export function createCommitRelay(): CommitRelay {
  const relay: CommitRelay = {
    listener: undefined,
    eventsWritten: () => relay.listener?.eventsWritten(),
    tasksReady: (project) => relay.listener?.tasksReady(project),
    deadlineSet: (remaining) => relay.listener?.deadlineSet(remaining),
  };
  return relay;
}

export function startFeed(store: Store, relay: CommitRelay, onFault: FaultListener): Feed {
  const sequencer = createSequencer(store, onFault);
  const expiry = createExpiryTimer(store, onFault);
  const housekeeping = createHousekeeping(store, onFault);
  const statistics = createStatistics(store, onFault);
  const waiting = createWaitingRoom(store, onFault);
  const hints = listenForHints(store, waiting.wakeAll, onFault);
  relay.listener = {
    eventsWritten: sequencer.request,
    tasksReady: waiting.wake,
    deadlineSet: expiry.deadlineSet,
  };
  return {
    sequencer,
    waiting,
    async stop() {
      await Promise.all([
        expiry.stop(),
        housekeeping.stop(),
        statistics.stop(),
        waiting.stop(),
        hints.stop(),
      ]);
      await sequencer.stop();
    },
  };
}
