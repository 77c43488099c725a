import type { MessageInitShape } from '@bufbuild/protobuf';
import { Enforcement } from '@holdfast/proto/guard';
import { PrincipalKind } from '@holdfast/proto/history';
import {
  type ProjectSchema,
  type ProjectSettings,
  type ProjectSettingsSchema,
  Role,
  type TokenSchema,
} from '@holdfast/proto/project';
import type { PrincipalKind as Kind, Role as RoleName } from '../../domain/principal.js';
import type { Settings } from '../../domain/settings.js';
import type { Project } from '../../store/projects.js';
import type { TokenListing } from '../../store/tokens.js';
import { duration, microsOf, timestamp } from './time.js';

const ROLES = { agent: Role.AGENT, viewer: Role.VIEWER, member: Role.MEMBER, admin: Role.ADMIN } as const;
const ENFORCEMENTS = ['OFF', 'WARN', 'ENFORCE'] as const;

export const roleMessage = (role: RoleName): Role => ROLES[role];

export function roleOf(role: Role): RoleName | undefined {
  return (Object.keys(ROLES) as RoleName[]).find((name) => ROLES[name] === role);
}

export function kindOf(kind: PrincipalKind): Kind | undefined {
  if (kind === PrincipalKind.AGENT) return 'AGENT';
  return kind === PrincipalKind.PERSON ? 'PERSON' : undefined;
}

function settingsMessage(settings: Partial<Settings>): MessageInitShape<typeof ProjectSettingsSchema> {
  const { enforcement, defaultTtl, maxTtl, maxAge, maxExpiries } = settings;
  return {
    ...(enforcement && { enforcement: Enforcement[enforcement] }),
    ...(defaultTtl !== undefined && { defaultTtl: duration(defaultTtl) }),
    ...(maxTtl !== undefined && { maxTtl: duration(maxTtl) }),
    ...(maxAge !== undefined && { maxAge: duration(maxAge) }),
    ...(maxExpiries !== undefined && { maxExpiries }),
  };
}

export function settingsOf(message: ProjectSettings | undefined): Partial<Settings> {
  if (!message) return {};
  const { enforcement, defaultTtl, maxTtl, maxAge, maxExpiries } = message;
  const named = ENFORCEMENTS.find((name) => Enforcement[name] === enforcement);
  return {
    ...(named && { enforcement: named }),
    ...(defaultTtl && { defaultTtl: microsOf(defaultTtl) }),
    ...(maxTtl && { maxTtl: microsOf(maxTtl) }),
    ...(maxAge && { maxAge: microsOf(maxAge) }),
    ...(maxExpiries !== undefined && { maxExpiries }),
  };
}

export function projectMessage(project: Project): MessageInitShape<typeof ProjectSchema> {
  return {
    id: project.id,
    title: project.title,
    settings: settingsMessage(project.own),
    effectiveSettings: settingsMessage(project.effective),
    createdAt: timestamp(project.createdAt),
  };
}

export function tokenMessage(token: TokenListing): MessageInitShape<typeof TokenSchema> {
  return {
    id: token.id,
    principal: token.principal,
    kind: PrincipalKind[token.kind],
    role: roleMessage(token.role),
    createdAt: timestamp(token.createdAt),
    ...(token.expiresAt !== undefined && { expiresAt: timestamp(token.expiresAt) }),
    ...(token.lastUsedAt !== undefined && { lastUsedAt: timestamp(token.lastUsedAt) }),
    ...(token.revokedAt !== undefined && { revokedAt: timestamp(token.revokedAt) }),
  };
}
