import type { JsonObject } from '@bufbuild/protobuf';

/** A well-formed request of each RPC, about things that do not exist. */
export const REQUESTS: Readonly<Record<string, JsonObject>> = {
  'LeaseService/AcquireLease': { taskId: 'none', executionId: 'run' },
  'LeaseService/AcquireNextTask': { executionId: 'run' },
  'LeaseService/RenewLease': { leaseId: 'none', fencingToken: '1' },
  'LeaseService/RenewExecution': { executionId: 'run' },
  'LeaseService/ReleaseLease': { leaseId: 'none', fencingToken: '1' },
  'LeaseService/EndExecution': { executionId: 'over' },
  'LeaseService/ForceReleaseLease': { taskId: 'none', reason: 'why not' },
  'LeaseService/CheckLease': { taskId: 'none', executionId: 'run' },
  'LeaseService/GetLease': { taskId: 'none' },
  'LeaseService/ListLeases': {},
  'LeaseService/WatchLeases': {},
  'TaskService/CreateTask': { title: 'new', executionId: 'run' },
  'TaskService/GetTask': { taskId: 'none' },
  'TaskService/ListTasks': {},
  'TaskService/ListReadyTasks': {},
  'TaskService/UpdateTask': { taskId: 'none', executionId: 'run', title: 'other' },
  'TaskService/AddNote': { taskId: 'none', executionId: 'run', text: 'note' },
  'TaskService/CompleteTask': { taskId: 'none', executionId: 'run' },
  'TaskService/DropTask': { taskId: 'none', executionId: 'run' },
  'TaskService/ReopenTask': { taskId: 'none', executionId: 'run' },
  'TaskService/RequeueTask': { taskId: 'none' },
  'TaskService/DeleteTask': { taskId: 'none', executionId: 'run' },
  'TaskService/AddDependency': { taskId: 'none', blockedBy: 'none too', executionId: 'run' },
  'TaskService/RemoveDependency': { taskId: 'none', blockedBy: 'none too', executionId: 'run' },
  'TaskService/CreatePlan': { title: 'new', executionId: 'run' },
  'TaskService/UpdatePlan': { planId: 'none', title: 'other', executionId: 'run' },
  'TaskService/GetPlan': { planId: 'none' },
  'TaskService/ListPlans': {},
  'TaskService/ImportTasks': { tasks: [{ externalKey: 'k', title: 't' }], executionId: 'run' },
  'HistoryService/ListHistory': {},
  'HistoryService/GetEnforcementReport': {},
  'HistoryService/ListNotifications': {},
  'HistoryService/AcknowledgeNotifications': { ids: ['none'] },
  'ProjectService/CreateProject': { project: 'made' },
  'ProjectService/GetProject': {},
  'ProjectService/ListProjects': {},
  'ProjectService/UpdateProject': { title: 'other' },
  'ProjectService/WhoAmI': {},
  'ProjectService/CreateToken': {
    principal: 'somebody',
    kind: 'PRINCIPAL_KIND_PERSON',
    role: 'ROLE_VIEWER',
  },
  'ProjectService/ListTokens': {},
  'ProjectService/RevokeToken': { tokenId: 'none' },
  'ProjectService/CreateWebhook': { url: 'http://127.0.0.1:9/' },
  'ProjectService/ListWebhooks': {},
  'ProjectService/DeleteWebhook': { webhookId: 'none' },
};

/** A request of an RPC by its name. */
export function requestOf(rpc: string): JsonObject {
  const request = REQUESTS[rpc];
  if (!request) throw new Error(`requests.ts has no request of ${rpc}`);
  return request;
}
