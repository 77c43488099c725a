import { ListTokensResponseSchema, Role, type Token } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { noteMore, readPages } from '../pages.js';
import { moment } from '../time.js';

interface Options {
  limit: number;
}

export function tokenList(): Command {
  return remoteCommand(
    'list',
    "As an admin: list a project's tokens, without their secrets",
    'holdfast token list',
  )
    .option('--limit <number>', 'at most so many', integer(1), 100)
    .action(
      connected<Options>(async (session, { limit }) => {
        const { holdfast, out, project } = session;
        const answer = await readPages(
          limit,
          (page) => holdfast.projects.listTokens({ project, ...page }),
          ({ tokens }) => tokens,
        );
        out.result(ListTokensResponseSchema, answer, () => {
          if (answer.tokens.length === 0) return 'No tokens.';
          return out.table(answer.tokens, [
            ['ID', (token) => token.id],
            ['ROLE', (token) => Role[token.role]],
            ['LAST USED', (token) => moment(token.lastUsedAt) || 'never'],
            ['ENDS', endOf],
            ['PRINCIPAL', (token) => token.principal],
          ]);
        });
        noteMore(session, answer, limit);
      }),
    );
}

function endOf({ revokedAt, expiresAt }: Token): string {
  return revokedAt ? `revoked ${moment(revokedAt)}` : moment(expiresAt) || 'never';
}
