import { type Event, EventKind, type Notification } from '@holdfast/proto/history';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useLive } from '../live/use-live.js';

/** The caller's unread notifications of the project. */
interface Inbox {
  /** Newest first. */
  readonly notifications: readonly Notification[];
  /** Marks some of them as read. Rejects with what the server says. */
  acknowledge(ids: readonly string[]): Promise<void>;
}

const TELLING: readonly EventKind[] = [
  EventKind.LEASE_EXPIRED,
  EventKind.TASK_QUARANTINED,
  EventKind.WEBHOOK_FAILED,
];

/** The most that are read, and that one call may acknowledge. */
const SHOWN = 1_000;

const NONE: readonly Notification[] = [];

const InboxContext = createContext<Inbox>({ notifications: NONE, acknowledge: async () => {} });

/** Reads the inbox, and reads it again when something should bring a notification. */
export function InboxProvider({ children }: { children: ReactNode }) {
  const { live, session } = useLive();
  const [answer, setAnswer] = useState({ of: live, notifications: NONE });
  // Those of another project are not this one's.
  const notifications = answer.of === live ? answer.notifications : NONE;
  const shown = useRef(live);
  shown.current = live;
  const { hasInbox } = session;
  const { state } = live.connection;

  const read = useCallback(async () => {
    const { notifications } = await live.holdfast.history.listNotifications({
      project: live.project,
      pageSize: SHOWN,
    });
    if (shown.current === live) setAnswer({ of: live, notifications });
  }, [live]);

  useEffect(() => {
    if (state !== 'live' || !hasInbox) return;
    const readQuietly = () => void read().catch(() => {});
    let timer: ReturnType<typeof setTimeout> | undefined;
    readQuietly();
    const stop = live.onEvent(({ kind }: Event) => {
      if (!TELLING.includes(kind)) return;
      clearTimeout(timer);
      // Notifications are written behind their events.
      timer = setTimeout(readQuietly, 500);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [live, read, state, hasInbox]);

  const inbox = useMemo(
    () => ({
      notifications,
      async acknowledge(ids: readonly string[]) {
        await live.holdfast.history.acknowledgeNotifications({ project: live.project, ids: [...ids] });
        await read();
      },
    }),
    [notifications, live, read],
  );
  return <InboxContext value={inbox}>{children}</InboxContext>;
}

export const useInbox = (): Inbox => useContext(InboxContext);
