import { CreateProjectResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { connected, remoteCommand } from '../command.js';
import { addSettingsOptions, givenSettings, projectText, type SettingsOptions } from '../project-settings.js';

interface Options extends SettingsOptions {
  title?: string;
}

export function projectCreate(): Command {
  const command = remoteCommand(
    'create',
    'As the owner: create a project',
    'holdfast project create website --enforcement enforce',
    'holdfast token create ann --role admin --project website',
  )
    .argument('<id>', 'its id, unique on the server')
    .option('--title <title>', 'one line (else the id)');
  return addSettingsOptions(command).action(
    connected<Options, [string]>(async ({ holdfast, out }, options, id) => {
      const answer = await holdfast.projects.createProject({
        project: id,
        title: options.title ?? '',
        settings: givenSettings(options),
        requestId: crypto.randomUUID(),
      });
      out.result(CreateProjectResponseSchema, answer, () =>
        answer.project ? projectText(answer.project, out.style) : '',
      );
    }),
  );
}
