import { createHoldfast, type Holdfast } from '@holdfast/client';
import { PrincipalKind } from '@holdfast/proto/history';
import { type Connection, resolveConnection } from './connection.js';
import { type Output, openOutput } from './output.js';
import { readSettings } from './settings.js';

/** The options that every command has. */
export interface SharedOptions {
  url?: string;
  token?: string;
  project?: string;
  execution?: string;
  json?: boolean;
}

/** What a command works with. */
export interface Session {
  readonly holdfast: Holdfast;
  readonly out: Output;
  /** The project asked for; empty: the token's. Goes into every request. */
  readonly project: string;
  /** The execution that the caller named, if it named one. Only then can its leases be found again. */
  readonly givenExecution: string | undefined;
  /** Server and token as the caller gave them: not what was found on this machine. */
  readonly given: Partial<Connection>;
  /** The execution to write as: the given one; for an agent a new one, announced; for a person none. */
  writer(): Promise<string>;
  /** Tells on stderr which execution was made up, unless one was given. */
  announceExecution(): void;
}

/** Opens a session. Nothing is sent yet. Rejects with a UsageError when server or token are missing. */
export async function openSession(options: SharedOptions): Promise<Session> {
  const settings = readSettings();
  const connection = resolveConnection(options, settings);
  const givenExecution = options.execution ?? settings('HOLDFAST_EXECUTION_ID');
  const url = options.url ?? settings('HOLDFAST_URL');
  const token = options.token ?? settings('HOLDFAST_TOKEN');
  const out = openOutput(options.json === true);
  const holdfast = createHoldfast({
    ...connection,
    ...(givenExecution ? { executionId: givenExecution } : {}),
  });
  const announceExecution = () => {
    if (givenExecution) return;
    out.note(
      `Execution ${holdfast.executionId} (new; export HOLDFAST_EXECUTION_ID=${holdfast.executionId} keeps it)`,
    );
  };
  return {
    holdfast,
    out,
    project: options.project ?? settings('HOLDFAST_PROJECT') ?? '',
    givenExecution,
    given: { ...(url ? { url } : {}), ...(token ? { token } : {}) },
    announceExecution,
    async writer() {
      if (givenExecution) return givenExecution;
      const { kind } = await holdfast.projects.whoAmI({});
      if (kind !== PrincipalKind.AGENT) return '';
      announceExecution();
      return holdfast.executionId;
    },
  };
}
