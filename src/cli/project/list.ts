import { Enforcement } from '@holdfast/proto/guard';
import { ListProjectsResponseSchema } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { connected, remoteCommand } from '../command.js';
import { noteMore, readPages } from '../pages.js';

interface Options {
  limit: number;
}

export function projectList(): Command {
  return remoteCommand('list', 'List the projects that you may see', 'holdfast project list')
    .option('--limit <number>', 'at most so many', integer(1), 100)
    .action(
      connected<Options>(async (session, { limit }) => {
        const { holdfast, out } = session;
        const answer = await readPages(
          limit,
          (page) => holdfast.projects.listProjects(page),
          ({ projects }) => projects,
        );
        out.result(ListProjectsResponseSchema, answer, () =>
          out.table(answer.projects, [
            ['ID', (project) => project.id],
            ['ENFORCEMENT', (project) => Enforcement[project.effectiveSettings?.enforcement ?? 0] ?? ''],
            ['TITLE', (project) => project.title],
          ]),
        );
        noteMore(session, answer, limit);
      }),
    );
}
