import { SECOND } from '../domain/instant.js';
import { MIN_TTL } from '../domain/ttl.js';

/** What a field may hold. Lengths of texts are in characters, except `bytes`. */
export type FieldRule =
  /** A name given by somebody: printable, one line, at most three bytes a character. Empty means absent. */
  | { readonly is: 'id'; readonly max: number }
  /** An id of somebody, whose canonical form must be one, too. */
  | { readonly is: 'principal'; readonly max: number }
  /** One printable line that says something. */
  | { readonly is: 'line'; readonly max: number }
  /** Any text without NUL, at most so many bytes of UTF-8. */
  | { readonly is: 'text'; readonly bytes: number }
  /** A whole number. */
  | { readonly is: 'number'; readonly min: number; readonly max: number }
  /** A span in microseconds; zero is allowed if `zero` says so. */
  | { readonly is: 'span'; readonly min: number; readonly max: number; readonly zero: boolean }
  | { readonly is: 'instant' }
  /** A known value of an enum. */
  | { readonly is: 'enum' }
  | { readonly is: 'bool' }
  /** Judged elsewhere. */
  | { readonly is: 'any' }
  /** A message whose own fields have rules. */
  | { readonly is: 'message' }
  /** Messages whose own fields have rules, each judged by itself in its RPC: one bad record is not the request's. */
  | { readonly is: 'records' };

const ID: FieldRule = { is: 'id', max: 256 };
const PRINCIPAL: FieldRule = { is: 'principal', max: 256 };
const LINE: FieldRule = { is: 'line', max: 500 };
const TEXT: FieldRule = { is: 'text', bytes: 64 * 1024 };
const TTL: FieldRule = { is: 'span', min: MIN_TTL, max: Number.MAX_SAFE_INTEGER, zero: true };
const INT32: FieldRule = { is: 'number', min: -(2 ** 31), max: 2 ** 31 - 1 };

/** The rule of each field, by its name in the .proto: one name means one thing everywhere. */
export const FIELD_RULES: Readonly<Record<string, FieldRule>> = {
  project: ID,
  task_id: ID,
  lease_id: ID,
  plan_id: ID,
  parent_id: ID,
  external_key: ID,
  assumed_keys: ID,
  execution_id: ID,
  request_id: ID,
  principal: PRINCIPAL,
  assignee: PRINCIPAL,
  holder: PRINCIPAL,
  actor: PRINCIPAL,
  token_id: ID,
  webhook_id: ID,
  parent: ID,
  plan: ID,
  etag: ID,
  task_ids: ID,
  step_ids: ID,
  ids: ID,
  blocked_by: ID,
  labels: { is: 'id', max: 64 },
  title: LINE,
  plan_title: LINE,
  body: TEXT,
  text: TEXT,
  result: TEXT,
  reason: TEXT,
  note: TEXT,
  progress: TEXT,
  override_reason: TEXT,
  url: { is: 'id', max: 2048 },
  page_token: { is: 'text', bytes: 4096 },
  resume_after: { is: 'text', bytes: 4096 },
  page_size: { is: 'number', min: 0, max: 1000 },
  priority: INT32,
  line: INT32,
  max_expiries: { is: 'number', min: 0, max: 1_000_000 },
  ttl: TTL,
  default_ttl: { ...TTL, zero: false },
  max_ttl: { ...TTL, zero: false },
  max_age: TTL,
  expires_in: { ...TTL, zero: false },
  wait: { is: 'span', min: 0, max: 50 * SECOND, zero: true },
  since: { is: 'instant' },
  until: { is: 'instant' },
  kind: { is: 'enum' },
  kinds: { is: 'enum' },
  role: { is: 'enum' },
  order: { is: 'enum' },
  status: { is: 'enum' },
  statuses: { is: 'enum' },
  enforcement: { is: 'enum' },
  detach: { is: 'bool' },
  dry_run: { is: 'bool' },
  allow_partial: { is: 'bool' },
  explain: { is: 'bool' },
  accept_dropped: { is: 'bool' },
  include_acknowledged: { is: 'bool' },
  update_mask: { is: 'any' },
  // The guard decides what a proof is worth, so that OFF can ignore it.
  fencing_token: { is: 'any' },
  proof: { is: 'message' },
  settings: { is: 'message' },
  tasks: { is: 'records' },
};

/** How many values a repeated field may hold. */
export const MAX_ITEMS: Readonly<Record<string, number>> = {
  labels: 64,
  blocked_by: 1000,
  task_ids: 1000,
  step_ids: 10_000,
  ids: 1000,
  kinds: 64,
  statuses: 16,
  tasks: 1000,
  assumed_keys: 100_000,
};

/** The fields that a request must fill, by the request's name. */
export const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  AcquireLeaseRequest: ['task_id', 'execution_id'],
  AcquireNextTaskRequest: ['execution_id'],
  RenewLeaseRequest: ['lease_id', 'fencing_token'],
  RenewExecutionRequest: ['execution_id'],
  ReleaseLeaseRequest: ['lease_id', 'fencing_token'],
  EndExecutionRequest: ['execution_id'],
  ForceReleaseLeaseRequest: ['task_id', 'reason'],
  CheckLeaseRequest: ['task_id'],
  CreateTaskRequest: ['title'],
  UpdateTaskRequest: ['task_id'],
  AddNoteRequest: ['task_id', 'text'],
  CompleteTaskRequest: ['task_id'],
  DropTaskRequest: ['task_id'],
  ReopenTaskRequest: ['task_id'],
  RequeueTaskRequest: ['task_id'],
  DeleteTaskRequest: ['task_id'],
  AddDependencyRequest: ['task_id', 'blocked_by'],
  RemoveDependencyRequest: ['task_id', 'blocked_by'],
  CreatePlanRequest: ['title'],
  UpdatePlanRequest: ['plan_id'],
  AcknowledgeNotificationsRequest: ['ids'],
  CreateProjectRequest: ['project'],
  CreateTokenRequest: ['principal', 'kind', 'role'],
  RevokeTokenRequest: ['token_id'],
  CreateWebhookRequest: ['url'],
  DeleteWebhookRequest: ['webhook_id'],
  ImportedTask: ['external_key', 'title'],
};

/** The longest span that a Duration may say, in microseconds: 10,000 years, as its own definition has it. */
export const MAX_DURATION_SECONDS = 315_576_000_000n;
