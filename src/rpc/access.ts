import type { Role } from '../domain/principal.js';

/** Who may call an RPC, and whether the call must name an execution. */
export interface Access {
  readonly roles: readonly Role[];
  /** Only an owner, whatever the role. */
  readonly owner?: true;
  /** An AGENT must say on behalf of which execution it writes; the server never makes one up. */
  readonly agentsNameExecution?: true;
}

const READ: Access = { roles: ['agent', 'viewer', 'member', 'admin'] };
const WRITE: Access = { roles: ['agent', 'member', 'admin'], agentsNameExecution: true };
const LEASE: Access = { roles: ['agent', 'member', 'admin'] };
const PEOPLE: Access = { roles: ['member', 'admin'] };
const INBOX: Access = { roles: ['viewer', 'member', 'admin'] };
const ADMIN: Access = { roles: ['admin'] };
const OWNER: Access = { roles: ['admin'], owner: true };

/** Every RPC and who may call it: `Service/Method`. What is not here may be called by nobody. */
export const ACCESS: Readonly<Record<string, Access>> = {
  'LeaseService/AcquireLease': LEASE,
  'LeaseService/AcquireNextTask': LEASE,
  'LeaseService/RenewLease': LEASE,
  'LeaseService/RenewExecution': LEASE,
  'LeaseService/ReleaseLease': LEASE,
  'LeaseService/EndExecution': LEASE,
  'LeaseService/ForceReleaseLease': ADMIN,
  'LeaseService/CheckLease': { ...READ, agentsNameExecution: true },
  'LeaseService/GetLease': READ,
  'LeaseService/ListLeases': READ,
  'LeaseService/WatchLeases': READ,
  'TaskService/CreateTask': WRITE,
  'TaskService/GetTask': READ,
  'TaskService/ListTasks': READ,
  'TaskService/ListReadyTasks': READ,
  'TaskService/UpdateTask': WRITE,
  'TaskService/AddNote': WRITE,
  'TaskService/CompleteTask': WRITE,
  'TaskService/DropTask': WRITE,
  'TaskService/ReopenTask': WRITE,
  'TaskService/RequeueTask': PEOPLE,
  'TaskService/DeleteTask': WRITE,
  'TaskService/AddDependency': WRITE,
  'TaskService/RemoveDependency': WRITE,
  'TaskService/CreatePlan': WRITE,
  'TaskService/UpdatePlan': WRITE,
  'TaskService/GetPlan': READ,
  'TaskService/ListPlans': READ,
  'TaskService/ImportTasks': WRITE,
  'HistoryService/ListHistory': READ,
  'HistoryService/GetEnforcementReport': READ,
  'HistoryService/ListNotifications': INBOX,
  'HistoryService/AcknowledgeNotifications': INBOX,
  'ProjectService/CreateProject': OWNER,
  'ProjectService/GetProject': READ,
  'ProjectService/ListProjects': READ,
  'ProjectService/UpdateProject': ADMIN,
  'ProjectService/WhoAmI': READ,
  'ProjectService/CreateToken': ADMIN,
  'ProjectService/ListTokens': ADMIN,
  'ProjectService/RevokeToken': ADMIN,
  'ProjectService/CreateWebhook': ADMIN,
  'ProjectService/ListWebhooks': ADMIN,
  'ProjectService/DeleteWebhook': ADMIN,
};
