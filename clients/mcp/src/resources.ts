import { HistoryOrder } from '@holdfast/proto/history';
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import type { Bridge } from './bridge.js';
import { instant } from './time.js';
import { brief, eventView, holderView, noteView, taskView, unmetView, withoutNothing } from './views.js';

/** How many rows of a list a resource holds; more is asked for with tools. */
const ROWS = 50;

/** Lets clients put tasks, plans, the board and histories into an agent's context. */
export function registerResources(server: McpServer, bridge: Bridge): void {
  const json = { mimeType: 'application/json' };
  server.registerResource(
    'board',
    'holdfast://board',
    {
      title: 'Project board',
      description: 'Plans with their progress, what is ready, who holds what',
      ...json,
    },
    async (uri) => contents(uri, await board(bridge)),
  );
  const byId = (kind: string, title: string, description: string, read: (id: string) => Promise<object>) => {
    const template = new ResourceTemplate(`holdfast://${kind}/{id}`, { list: undefined });
    server.registerResource(kind, template, { title, description, ...json }, async (uri, { id }) =>
      contents(uri, await read(decodeURIComponent(String(id)))),
    );
  };
  byId('task', 'Task', 'One task with its notes and what it waits for', (id) => task(bridge, id));
  byId('plan', 'Plan', 'One plan with its steps in order', (id) => plan(bridge, id));
  byId('history', 'History of a task', 'What happened to one task, newest first', (id) =>
    history(bridge, id),
  );
}

function contents(uri: URL, value: object) {
  return { contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(value) }] };
}

async function board({ holdfast, project }: Bridge): Promise<object> {
  const [plans, ready, held] = await Promise.all([
    holdfast.tasks.listPlans({ project, pageSize: ROWS }),
    holdfast.tasks.listReadyTasks({ project, pageSize: ROWS }),
    holdfast.leases.listLeases({ project, pageSize: ROWS }),
  ]);
  return {
    plans: plans.plans.map(({ id, title, stepsDone, stepsTotal }) => ({
      id,
      title,
      progress: `${stepsDone}/${stepsTotal}`,
    })),
    ready: ready.tasks.map(brief),
    held: held.leases.map(({ taskId, holder, expiresAt }) => ({
      task_id: taskId,
      holder: holder && holderView(holder),
      expires_at: instant(expiresAt),
    })),
  };
}

async function task({ holdfast, project }: Bridge, taskId: string): Promise<object> {
  const answer = await holdfast.tasks.getTask({ project, taskId });
  return {
    task: answer.task ? taskView(answer.task, true) : {},
    notes: answer.notes.map((note) => noteView(note, true)),
    unmet_dependencies: answer.unmetDependencies.map(unmetView),
  };
}

async function plan({ holdfast, project }: Bridge, planId: string): Promise<object> {
  const { plan: found, steps } = await holdfast.tasks.getPlan({ project, planId, pageSize: ROWS });
  return {
    id: found?.id,
    title: found?.title,
    body: found?.body,
    progress: `${found?.stepsDone}/${found?.stepsTotal}`,
    steps: steps.map((step) => ({ ...brief(step), ...statusAndHolder(step) })),
  };
}

const statusAndHolder = (step: Parameters<typeof taskView>[0]) => {
  const { status, holder } = taskView(step);
  return withoutNothing({ status, holder });
};

async function history({ holdfast, project }: Bridge, taskId: string): Promise<object> {
  const order = HistoryOrder.NEWEST_FIRST;
  const { events } = await holdfast.history.listHistory({ project, taskId, order, pageSize: ROWS });
  return { events: events.map(eventView) };
}
