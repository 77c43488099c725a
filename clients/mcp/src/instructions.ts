import type { ToolNames } from './tool.js';

/** The loop that agents follow. It stands here, since some clients show the tools' own schemas only when asked. */
export function instructions({ acquireNext, acquire, renew, release, complete }: ToolNames): string {
  return [
    'Holdfast is a task queue that many agents share. Before you work on a task, lease it; nobody else works on it then.',
    `1. ${acquireNext} (or ${acquire}). acquired: false is no error: do what "next" says, take an alternative, and do not work on that task.`,
    '2. Read the continuation: what earlier holders did. Go on from there.',
    `3. Work. Every few minutes call ${renew} with your progress. Your leases live on while you call tools; watch lease_seconds_left.`,
    `4. ${complete} with the result. If you stop before that, also after a failure: ${release} with a note.`,
    'When an answer says STOP, or names the task in lease_lost: stop writing for that task at once, somebody else may have it. Take another.',
    'If you were given an execution_id by the first answer, send it with every call that takes one.',
  ].join('\n');
}
