import { PrincipalKind } from '@holdfast/proto/history';
import type { ProjectService } from '@holdfast/proto/project';
import type { FieldChange } from '../domain/event.js';
import { describeSpan } from '../domain/instant.js';
import { canonicalPrincipal, isReservedPrincipal, roleFits } from '../domain/principal.js';
import type { Settings } from '../domain/settings.js';
import { actorOf } from '../domain/write.js';
import { faultOf } from '../store/database-error.js';
import { createProject, findProject, listProjects, type Project, updateProject } from '../store/projects.js';
import { createToken, listTokens, revokeToken } from '../store/tokens.js';
import { fail, type ServiceFunctions } from './api.js';
import { hashSecret } from './authenticate.js';
import { earlier } from './call.js';
import { kindOf, projectMessage, roleMessage, roleOf, settingsOf, tokenMessage } from './encode/project.js';
import { microsOf, timestamp } from './encode/time.js';
import { newId, newSecret } from './ids.js';
import { cut, pageOf } from './page.js';
import { invalidArgument } from './problems.js';
import { webhookFunctions } from './webhook-functions.js';

type Functions = ServiceFunctions<typeof ProjectService.method>;

const createProjectCall: Functions['createProject'] = async ({ store }, call, request) => {
  const known = async (ref: string) => {
    const project = await findProject(store, ref);
    return project ? { project: projectMessage(project) } : undefined;
  };
  const ref = await earlier(store, call);
  const before = ref === undefined ? undefined : await known(ref);
  if (before) return before;
  const fresh = {
    id: request.project,
    title: request.title || request.project,
    settings: settingsOf(request.settings),
  };
  try {
    const origin = call.request && { ...call.request, project: call.project };
    const project = await createProject(store, fresh, actorOf(call.caller), origin);
    return { project: projectMessage(project) };
  } catch (error) {
    if (faultOf(error) !== 'DUPLICATE') throw error;
    const ref = await earlier(store, call);
    const made = ref === undefined ? undefined : await known(ref);
    if (made) return made;
    return fail({ kind: 'ALREADY_EXISTS', message: `Project ${JSON.stringify(fresh.id)} exists already.` });
  }
};

const getProject: Functions['getProject'] = async ({ store }, call) => {
  const project = await findProject(store, call.project);
  return project ? { project: projectMessage(project) } : fail(noSuchProject(call.project));
};

const noSuchProject = (id: string) =>
  ({ kind: 'NOT_FOUND', message: `There is no project ${JSON.stringify(id)}.` }) as const;

const listProjectsCall: Functions['listProjects'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  if (!call.caller.owner) {
    const own = await findProject(store, call.project);
    return { projects: own ? [projectMessage(own)] : [] };
  }
  const found = await listProjects(store, page.after ?? '', page.size + 1);
  const { rows, nextPageToken } = cut(page, found, (project) => project.id);
  return { projects: rows.map(projectMessage), nextPageToken };
};

const updateProjectCall: Functions['updateProject'] = async ({ store }, call, request) => {
  const settings = settingsOf(request.settings);
  const project = await updateProject(
    store,
    call.project,
    { title: request.title, settings },
    actorOf(call.caller),
    (before) => changesOf(before, request.title, settings),
  );
  return project ? { project: projectMessage(project) } : fail(noSuchProject(call.project));
};

/** What an update changes, in the words of the API. */
function changesOf(before: Project, title: string | undefined, settings: Partial<Settings>): FieldChange[] {
  const told: [string, unknown, unknown][] = [
    ['title', before.title, title],
    ['settings.enforcement', before.own.enforcement, settings.enforcement],
    ['settings.default_ttl', before.own.defaultTtl, settings.defaultTtl],
    ['settings.max_ttl', before.own.maxTtl, settings.maxTtl],
    ['settings.max_age', before.own.maxAge, settings.maxAge],
    ['settings.max_expiries', before.own.maxExpiries, settings.maxExpiries],
  ];
  return told.flatMap(([field, was, wanted]) => {
    if (wanted === undefined || wanted === was) return [];
    const say = (value: unknown) =>
      value === undefined
        ? 'default'
        : field.endsWith('_ttl') || field.endsWith('_age')
          ? describeSpan(value as number)
          : String(value);
    return [{ field, before: say(was), after: say(wanted) }];
  });
}

const whoAmI: Functions['whoAmI'] = async (_api, { identity }) => ({
  principal: identity.principal,
  kind: PrincipalKind[identity.kind],
  role: roleMessage(identity.role),
  project: identity.project,
  owner: identity.owner,
  tokenId: identity.tokenId,
  ...(identity.expiresAt !== undefined && { expiresAt: timestamp(identity.expiresAt) }),
});

const createTokenCall: Functions['createToken'] = async ({ store }, call, request) => {
  const kind = kindOf(request.kind);
  if (!kind) throw invalidArgument('kind', 'must be AGENT or PERSON');
  const role = roleOf(request.role);
  if (!role || !roleFits(kind, role)) {
    throw invalidArgument(
      'role',
      kind === 'AGENT' ? 'must be AGENT for an agent' : 'must be VIEWER, MEMBER or ADMIN for a person',
    );
  }
  const principal = canonicalPrincipal(request.principal);
  if (isReservedPrincipal(principal) && !call.caller.owner) {
    fail({
      kind: 'PERMISSION_DENIED',
      message: `${JSON.stringify(principal)} is the name of the server's owner, who alone may make a token for it. Choose another name.`,
    });
  }
  const secret = newSecret();
  const tokenId = newId();
  const made = await createToken(
    store,
    call.project,
    {
      id: tokenId,
      hash: hashSecret(secret),
      principal,
      kind,
      role,
      owner: false,
      lifetime: request.expiresIn && microsOf(request.expiresIn),
    },
    actorOf(call.caller),
  );
  if (made === 'OTHER_KIND') {
    fail({
      kind: 'ALREADY_EXISTS',
      message: `${JSON.stringify(principal)} is known in this project as a principal of the other kind. Choose another name.`,
    });
  }
  return {
    token: secret,
    tokenId,
    principal,
    ...(made.expiresAt !== undefined && { expiresAt: timestamp(made.expiresAt) }),
  };
};

const listTokensCall: Functions['listTokens'] = async ({ store }, call, request) => {
  const page = pageOf(request, call.project);
  const found = await listTokens(store, call.project, page.after ?? '', page.size + 1);
  const { rows, nextPageToken } = cut(page, found, (token) => token.id);
  return { tokens: rows.map(tokenMessage), nextPageToken };
};

const revokeTokenCall: Functions['revokeToken'] = async ({ store }, call, request) => {
  const revoked = await revokeToken(store, call.project, request.tokenId, actorOf(call.caller));
  if (revoked === undefined) {
    fail({
      kind: 'NOT_FOUND',
      message: `There is no token ${JSON.stringify(request.tokenId)} in this project. ListTokens tells their ids.`,
    });
  }
  return { alreadyRevoked: !revoked };
};

export const projectFunctions = {
  createProject: createProjectCall,
  getProject,
  listProjects: listProjectsCall,
  updateProject: updateProjectCall,
  whoAmI,
  createToken: createTokenCall,
  listTokens: listTokensCall,
  revokeToken: revokeTokenCall,
  ...webhookFunctions,
} satisfies Functions;
