import { RevokeTokenResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';

export function tokenRevoke(): Command {
  return remoteCommand('revoke', 'As an admin: revoke a token at once', 'holdfast token revoke 0192…')
    .argument('<token id>', 'from token create or token list; not the secret')
    .action(
      connected<object, [string]>(async ({ holdfast, out, project }, _options, tokenId) => {
        const answer = await holdfast.projects.revokeToken({ project, tokenId });
        out.result(RevokeTokenResponseSchema, answer, () =>
          answer.alreadyRevoked ? `Token ${tokenId} was revoked before.` : `Revoked token ${tokenId}.`,
        );
      }),
    );
}
