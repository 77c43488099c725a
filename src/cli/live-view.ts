import { createLogUpdate } from 'log-update';
import pLimit from 'p-limit';
import { Lanes } from './lanes.js';
import type { Session } from './session.js';
import { cutTo } from './text.js';
import { connectionTeller, gapText, type View } from './watch-view.js';

const REDRAW_MS = 250;

/** A view for a terminal that redraws itself: who holds what, how long still, and what happened last. */
export function openLiveView({ holdfast, out }: Session): View {
  const lanes = new Lanes();
  const screen = createLogUpdate(process.stdout);
  const asking = pLimit(4);
  const asked = new Set<string>();
  let status = 'Connecting …';
  const tell = connectionTeller((text) => {
    status = text;
  });

  const draw = () => {
    const { columns: width = 80, rows: height = 24 } = process.stdout;
    const text = lanes.text(performance.now(), width, height - 2, out.style);
    screen(`${text}\n${out.style.inverse(cutTo(width, status))}`);
  };
  const timer = setInterval(draw, REDRAW_MS);

  /** Titles are nicer to read than ids; one that cannot be had stays an id. */
  const entitle = () => {
    for (const { project, taskId } of lanes.untitled) {
      if (asked.has(taskId) || asking.pendingCount > 20) continue;
      asked.add(taskId);
      void asking(async () => {
        const { task } = await holdfast.tasks.getTask({ project, taskId });
        if (task) lanes.entitle(taskId, task.title);
      }).catch(() => {});
    }
  };

  return {
    news({ project, news }) {
      lanes.hear({ project, news }, performance.now());
      if (news.kind === 'gap') status = gapText(news.reason);
      entitle();
    },
    connection(connection) {
      if (connection.state === 'live') status = 'Live. Ctrl-C ends it.';
      tell(connection);
      draw();
    },
    close() {
      clearInterval(timer);
      draw();
      screen.done();
    },
  };
}
