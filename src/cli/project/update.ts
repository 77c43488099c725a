import { UpdateProjectResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { UsageError } from '../exit.js';
import { addSettingsOptions, givenSettings, projectText, type SettingsOptions } from '../project-settings.js';

interface Options extends SettingsOptions {
  title?: string;
}

export function projectUpdate(): Command {
  const command = remoteCommand(
    'update',
    "As an admin: change a project's title or rules",
    'holdfast project update --enforcement enforce --max-ttl 1h',
  )
    .argument('[id]', "which one (else --project, else the token's)")
    .option('--title <title>', 'the new title');
  return addSettingsOptions(command).action(
    connected<Options, [string | undefined]>(async ({ holdfast, out, project }, options, id) => {
      const settings = givenSettings(options);
      if (options.title === undefined && Object.keys(settings).length === 0) {
        throw new UsageError('nothing to change; give --title or a rule, such as --enforcement');
      }
      const answer = await holdfast.projects.updateProject({
        project: id ?? project,
        settings,
        ...(options.title === undefined ? {} : { title: options.title }),
      });
      out.result(UpdateProjectResponseSchema, answer, () =>
        answer.project ? projectText(answer.project, out.style) : '',
      );
    }),
  );
}
