import { explain } from '@holdfast/client';
import { type Event, HistoryOrder } from '@holdfast/proto/history';
import type { GetTaskResponse } from '@holdfast/proto/task';
import { useCallback, useEffect, useState } from 'react';
import { usePlace } from '../live/use-live.js';

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
  const { live } = usePlace();
  const [detail, setDetail] = useState<TaskDetail>({ history: [] });

  const read = useCallback(async () => {
    const { holdfast, project } = live;
    try {
      const [found, { events }] = await Promise.all([
        holdfast.tasks.getTask({ project, taskId }),
        holdfast.history.listHistory({ project, taskId, order: HistoryOrder.NEWEST_FIRST, pageSize: EVENTS }),
      ]);
      live.learn(found.task);
      setDetail({ found, history: events });
    } catch (error) {
      setDetail((known) => ({ ...known, problem: explain(error) }));
    }
  }, [live, taskId]);

  useEffect(() => {
    void read();
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
