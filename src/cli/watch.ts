import { toJson } from '@bufbuild/protobuf';
import { EventKind, EventSchema } from '@holdfast/proto/history';
import { LeaseSchema } from '@holdfast/proto/lease';
import type { Command } from 'commander';
import { asGiven, each, enumValue } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import { eventText } from './event-text.js';
import { openLiveView } from './live-view.js';
import { byIdOrKey, planId, taskIds } from './references.js';
import type { Session } from './session.js';
import { onSignals } from './signals.js';
import { holderText } from './task-text.js';
import { counted, oneLine } from './text.js';
import { moment, span } from './time.js';
import { watchProject, watchProjects } from './watch-projects.js';
import { connectionTeller, gapText, reasonOf, type View } from './watch-view.js';

interface Options {
  task?: string[];
  plan?: string;
  kind?: EventKind[];
  principal?: string;
  resumeAfter?: string;
  lines?: boolean;
}

export function watchCommand(): Command {
  return remoteCommand(
    'watch',
    'Show live who holds what and what happens, until Ctrl-C; the owner sees all projects',
    'holdfast watch',
    'holdfast watch --plan key:PLAN.md --lines',
    'holdfast watch --kind lease-expired --json',
  )
    .option('--task <task>', `only this task, by ${byIdOrKey}; may be given again`, each(asGiven))
    .option('--plan <plan>', `only the steps of this plan, by ${byIdOrKey}`)
    .option(
      '--kind <kind>',
      'only this kind of event, such as lease-expired; may be given again',
      each(enumValue<EventKind>(EventKind)),
    )
    .option('--principal <principal>', 'only what this principal holds or does')
    .option('--resume-after <token>', 'tell exactly what came after this token of an earlier watch')
    .option('--lines', 'a line for each event, as when the output is no terminal')
    .action(
      connected<Options & { execution?: string }>(async (session, options) => {
        const { holdfast, out, project } = session;
        const filter = {
          taskIds: await taskIds(session, options.task),
          planId: await planId(session, options.plan),
          kinds: options.kind ?? [],
          principal: options.principal ?? '',
          // As with `history`: the environment's execution is no filter.
          executionId: options.execution ?? '',
        };
        const view = viewFor(session, options.lines === true);
        const stop = new AbortController();
        const forget = onSignals(() => stop.abort());
        const shared = { ...filter, signal: stop.signal, onConnection: view.connection };
        const ofOne = project !== '' || options.resumeAfter || filter.planId || filter.taskIds.length > 0;
        const news = ofOne
          ? watchProject(holdfast, project, { ...shared, resumeAfter: options.resumeAfter ?? '' })
          : watchProjects(holdfast, shared);
        const places = new Map<string, string>();
        try {
          for await (const one of news) {
            if ('resumeToken' in one.news) places.set(one.project, one.news.resumeToken);
            view.news(one);
          }
        } finally {
          forget();
          view.close();
        }
        const [[named, place] = ['', ''], ...others] = places;
        if (place && others.length === 0) {
          const where = named ? ` --project ${named}` : '';
          out.note(`To go on from here: holdfast watch${where} --resume-after ${place}`);
        }
      }),
    );
}

function viewFor(session: Session, lines: boolean): View {
  if (session.out.json) return jsonView();
  return lines || !process.stdout.isTTY ? lineView(session) : openLiveView(session);
}

/** One JSON document a line. */
function jsonView(): View {
  const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);
  return {
    news({ project, news }) {
      const named = project === '' ? {} : { project };
      if (news.kind === 'event') {
        print({ ...news, event: toJson(EventSchema, news.event, { alwaysEmitImplicit: true }) });
      } else if ('leases' in news) {
        const leases = news.leases.map((lease) => toJson(LeaseSchema, lease, { alwaysEmitImplicit: true }));
        print({ ...news, ...named, leases });
      } else print({ ...news, ...named });
    },
    connection(connection) {
      const error = connection.state === 'waiting' ? { error: reasonOf(connection.error) } : {};
      print({ kind: 'connection', ...connection, ...error });
    },
    close() {},
  };
}

function lineView({ out }: Session): View {
  const print = (...cells: string[]) =>
    process.stdout.write(
      `${cells
        .map(oneLine)
        .filter((cell) => cell !== '')
        .join('  ')}\n`,
    );
  return {
    news({ news }) {
      if (news.kind === 'event') {
        const { at, project, kind, taskId, actor } = news.event;
        print(moment(at), project, EventKind[kind], taskId, actor, eventText(news.event));
      } else if (news.kind === 'snapshot') {
        print(`${counted(news.leases.length, 'lease')} held`);
        for (const { holder, taskId, remaining } of news.leases) {
          print('held', taskId, holderText(holder), `${span(remaining)} left`);
        }
      } else if (news.kind === 'gap') print(gapText(news.reason));
    },
    connection: connectionTeller((text) => out.note(text)),
    close() {},
  };
}
