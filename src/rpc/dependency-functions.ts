import type { TaskService } from '@holdfast/proto/task';
import { decideAddDependency, decideRemoveDependency, type EdgeFacts } from '../domain/dependencies.js';
import { readEdgeFacts } from '../store/edges.js';
import type { TaskRead } from '../store/read-task.js';
import { type Api, doneOrRef, type ServiceFunctions } from './api.js';
import type { Call } from './call.js';
import { currentTask, write } from './guarded-write.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof TaskService.method>;

const otherEnd = ({ store }: Api, call: Call, blockedBy: string) => ({
  gather: (read: TaskRead): Promise<EdgeFacts> => readEdgeFacts(store, call.project, read.state, blockedBy),
});

const addDependency: Functions['addDependency'] = async (api, call, request) => {
  const { taskId, blockedBy, acceptDropped } = request;
  if (taskId === blockedBy) throw invalidArgument('blocked_by', 'is the task itself');
  doneOrRef(
    await write(
      api,
      call,
      'AddDependency',
      request,
      otherEnd(api, call, blockedBy),
      (read, guard, facts: EdgeFacts) =>
        decideAddDependency(read, call.caller, guard, facts, { blockerId: blockedBy, acceptDropped }),
    ),
  );
  return { task: await currentTask(api, call, taskId) };
};

const removeDependency: Functions['removeDependency'] = async (api, call, request) => {
  const { taskId, blockedBy } = request;
  doneOrRef(
    await write(
      api,
      call,
      'RemoveDependency',
      request,
      otherEnd(api, call, blockedBy),
      (read, guard, facts: EdgeFacts) => decideRemoveDependency(read, call.caller, guard, facts, blockedBy),
    ),
  );
  return { task: await currentTask(api, call, taskId) };
};

export const dependencyFunctions = { addDependency, removeDependency } satisfies Functions;
