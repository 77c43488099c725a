import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { instructions } from './instructions.js';
import type { ToolNames } from './tool.js';

/** Lets people start an agent on the queue, or have it make one. */
export function registerPrompts(server: McpServer, names: ToolNames): void {
  server.registerPrompt(
    'work_the_queue',
    {
      title: 'Work the queue',
      description: 'Take ready tasks, one after the other, until none is left',
      argsSchema: z.object({ plan_id: z.string().describe('Only steps of this plan').optional() }),
    },
    ({ plan_id }) => said(workTheQueue(names, plan_id)),
  );
  server.registerPrompt(
    'plan_this',
    {
      title: 'Plan this',
      description: 'Break a goal into tasks that several agents can work at once',
      argsSchema: z.object({ goal: z.string().describe('What should be achieved') }),
    },
    ({ goal }) => said(planThis(names, goal)),
  );
}

function said(text: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
}

function workTheQueue(names: ToolNames, planId: string | undefined): string {
  const only = planId ? ` Take only steps of plan ${planId}: send it as plan_id.` : '';
  return [
    `Work the Holdfast queue until nothing is ready.${only}`,
    instructions(names),
    `After each task take the next one. When nothing is ready but tasks are held or blocked, call ${names.acquireNext} once more with wait_seconds 50; if there is still nothing, end_execution and say what you did.`,
  ].join('\n\n');
}

function planThis({ acquireNext, create }: ToolNames, goal: string): string {
  return [
    `Plan this as tasks in Holdfast: ${goal}`,
    `Look at the code first. Then make the tasks with ${create}, as steps of one plan.`,
    'A task is what one agent finishes in one sitting, in files that no other task changes meanwhile. Its body says what is done when it is done.',
    'Let a task wait for another only where one task needs what another one makes, so that as many as possible can be worked at once.',
    `Do not work on the tasks yet. Show the plan; agents take its steps with ${acquireNext} and its plan_id.`,
  ].join('\n');
}
