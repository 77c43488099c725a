import type { Duration } from '@bufbuild/protobuf/wkt';
import { PrincipalKind } from '@holdfast/proto/history';
import { CreateTokenResponseSchema, Role } from '@holdfast/proto/project';
import { type Command, Option } from 'commander';
import { enumValue } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { moment } from '../time.js';
import { duration } from '../time-arguments.js';

interface Options {
  role: Role;
  expiresIn?: Duration;
}

export function tokenCreate(): Command {
  return remoteCommand(
    'create',
    'As an admin: make a token, printed once',
    'export HOLDFAST_TOKEN=$(holdfast token create builder-1)',
    'holdfast token create ann --role admin --expires-in 90d',
  )
    .argument('<principal>', 'whose token')
    .addOption(
      new Option('--role <role>', 'agent; or for a person: viewer, member or admin')
        .argParser(enumValue<Role>(Role))
        .default(Role.AGENT, 'agent'),
    )
    .option('--expires-in <time>', 'how long it lives, such as 12h or 90d (else until revoked)', duration)
    .action(
      connected<Options, [string]>(async ({ holdfast, out, project }, { role, expiresIn }, principal) => {
        const answer = await holdfast.projects.createToken({
          project,
          principal,
          role,
          kind: role === Role.AGENT ? PrincipalKind.AGENT : PrincipalKind.PERSON,
          ...(expiresIn ? { expiresIn } : {}),
        });
        // Alone on stdout, so that $(…) takes just the token.
        out.result(CreateTokenResponseSchema, answer, () => answer.token);
        const end = answer.expiresAt ? `, until ${moment(answer.expiresAt)}` : '';
        out.note(`Token ${answer.tokenId} of ${answer.principal}${end}. Keep it: it is never shown again.`);
      }),
    );
}
