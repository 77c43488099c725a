import { PrincipalKind } from '@holdfast/proto/history';
import { Role, WhoAmIResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { details } from './table.js';
import { moment } from './time.js';

export function whoamiCommand(): Command {
  return remoteCommand('whoami', 'Say whom your token stands for', 'holdfast whoami').action(
    connected(async ({ holdfast, out }) => {
      const me = await holdfast.projects.whoAmI({});
      out.result(WhoAmIResponseSchema, me, () =>
        details(
          [
            ['principal', me.principal],
            ['kind', PrincipalKind[me.kind]],
            ['role', Role[me.role] + (me.owner ? ', owner of the server' : '')],
            ['project', me.project],
            ['token', me.tokenId],
            ['token ends', moment(me.expiresAt)],
          ],
          out.style,
        ),
      );
    }),
  );
}
