import { explain } from '@holdfast/client';
import { type Event, HistoryOrder } from '@holdfast/proto/history';
import type { GetTaskResponse } from '@holdfast/proto/task';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLive } from '../live/use-live.js';

/** A task as its page shows it. */
export interface TaskDetail {
  readonly found?: GetTaskResponse;
  /** What happened to it, newest first. */
  readonly history: readonly Event[];
  readonly problem?: string;
}

/** Several events that come together are answered by one reading. In ms. */
const GATHER_MS = 120;
const EVENTS = 200;

/** Reads a task with its notes and its history, again whenever something happens to it. */
export function useTask(taskId: string): TaskDetail & { read: () => Promise<void> } {
  const { live } = useLive();
  const [detail, setDetail] = useState<TaskDetail>({ history: [] });
  const readings = useRef(0);
  const isLive = live.connection.state === 'live';

  const read = useCallback(async () => {
    const { holdfast, project } = live;
    const reading = ++readings.current;
    try {
      const [found, { events }] = await Promise.all([
        holdfast.tasks.getTask({ project, taskId }),
        holdfast.history.listHistory({ project, taskId, order: HistoryOrder.NEWEST_FIRST, pageSize: EVENTS }),
      ]);
      live.learn(found.task);
      if (reading === readings.current) setDetail({ found, history: events });
    } catch (error) {
      if (reading === readings.current) setDetail((known) => ({ ...known, problem: explain(error) }));
    }
  }, [live, taskId]);

  // At once, and again when the server is back.
  useEffect(() => {
    if (isLive || readings.current === 0) void read();
  }, [isLive, read]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.onEvent((event) => {
      if (event.taskId !== taskId) return;
      clearTimeout(timer);
      timer = setTimeout(() => void read(), GATHER_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [live, taskId, read]);

  return { ...detail, read };
}
