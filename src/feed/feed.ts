import type { EventDraft } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import type { CommitListener, Store } from '../store/store.js';
import type { Background, FaultListener } from './background.js';
import { createExpiryTimer } from './expiry-timer.js';
import { listenForHints } from './hints.js';
import { createHousekeeping } from './housekeeping.js';
import { createNotifier } from './notifier.js';
import { createRenewalHints } from './renewal-hints.js';
import { createSequencer, type Sequencer } from './sequencer.js';
import { createStatistics } from './statistics.js';
import { createWaitingRoom, type WaitingRoom } from './waiting-room.js';
import { createWatchHub, type WatchHub, type WatchOptions } from './watch-hub.js';
import type { WatchObserver } from './watcher.js';
import { createWebhookOutbox, type OutboxOptions } from './webhook-outbox.js';

/** All that runs beside the requests. */
export interface Feed extends Background {
  readonly sequencer: Sequencer;
  readonly waiting: WaitingRoom;
  readonly watches: WatchHub;
}

/** The store's commits, to be heard by a feed that is made after the store. */
export interface CommitRelay extends CommitListener {
  listener: CommitListener | undefined;
}

export function createCommitRelay(): CommitRelay {
  const relay: CommitRelay = {
    listener: undefined,
    eventsWritten: (told) => relay.listener?.eventsWritten(told),
    tasksReady: (project) => relay.listener?.tasksReady(project),
    deadlineSet: (remaining, renewed) => relay.listener?.deadlineSet(remaining, renewed),
  };
  return relay;
}

export interface FeedOptions {
  readonly webhooks: OutboxOptions;
  readonly watch?: Partial<WatchOptions> | undefined;
  readonly watchObserver?: WatchObserver;
  /** Told of what this process wrote. */
  readonly onEvent?: (event: EventDraft) => void;
  /** In microseconds; 0 or absent: for ever. */
  readonly historyKeptFor?: Micros | undefined;
}

export function startFeed(
  store: Store,
  relay: CommitRelay,
  onFault: FaultListener,
  { webhooks, watch, watchObserver, historyKeptFor, onEvent = () => {} }: FeedOptions,
): Feed {
  const sequencer = createSequencer(store, onFault);
  const expiry = createExpiryTimer(store, onFault);
  const housekeeping = createHousekeeping(store, onFault, historyKeptFor);
  const statistics = createStatistics(store, onFault);
  const waiting = createWaitingRoom(store, onFault);
  const watches = createWatchHub(store, onFault, watch, watchObserver);
  const outbox = createWebhookOutbox(store, webhooks, onFault);
  const notifier = createNotifier(store, outbox.wake, onFault);
  const renewals = createRenewalHints(store, onFault);
  const onHistory = () => {
    waiting.wakeAll();
    watches.wake();
    notifier.wake();
  };
  const hints = listenForHints(store, { onHistory, onLeases: watches.renewed }, onFault);
  relay.listener = {
    eventsWritten: (told = []) => {
      sequencer.request();
      for (const event of told) onEvent(event);
    },
    tasksReady: waiting.wake,
    deadlineSet: (remaining, renewed) => {
      expiry.deadlineSet(remaining);
      if (renewed) renewals.renewed(renewed.project, renewed.taskId);
    },
  };
  return {
    sequencer,
    waiting,
    watches,
    async stop() {
      const parts = [expiry, housekeeping, statistics, waiting, watches, notifier, outbox, renewals, hints];
      await Promise.all(parts.map((part) => part.stop()));
      await sequencer.stop();
    },
  };
}
