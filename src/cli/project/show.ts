import { GetProjectResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { projectText } from '../project-settings.js';

export function projectShow(): Command {
  return remoteCommand('show', 'Show a project and its rules', 'holdfast project show website')
    .argument('[id]', "which one (else --project, else the token's)")
    .action(
      connected<object, [string | undefined]>(async ({ holdfast, out, project }, _options, id) => {
        const answer = await holdfast.projects.getProject({ project: id ?? project });
        out.result(GetProjectResponseSchema, answer, () =>
          answer.project ? projectText(answer.project, out.style) : '',
        );
      }),
    );
}
