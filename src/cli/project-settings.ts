import type { Duration } from '@bufbuild/protobuf/wkt';
import { Enforcement } from '@holdfast/proto/guard';
import type { Project, ProjectSettings } from '@holdfast/proto/project';
import type { Command } from 'commander';
import { enumValue, integer } from './arguments.js';
import type { Style } from './style.js';
import { details } from './table.js';
import { joinSections } from './task-text.js';
import { oneLine } from './text.js';
import { moment, span } from './time.js';
import { duration } from './time-arguments.js';

/** The options that are a project's rules. */
export interface SettingsOptions {
  enforcement?: Enforcement;
  defaultTtl?: Duration;
  maxTtl?: Duration;
  maxAge?: Duration;
  maxExpiries?: number;
}

/** Adds the options that are a project's rules. */
export function addSettingsOptions(command: Command): Command {
  return command
    .option(
      '--enforcement <mode>',
      'off, warn or enforce: what a write without a valid lease meets',
      enumValue<Enforcement>(Enforcement),
    )
    .option('--default-ttl <time>', 'the TTL of a claim that names none', duration)
    .option('--max-ttl <time>', 'the longest TTL', duration)
    .option('--max-age <time>', 'how long a lease may be renewed; 0: for ever', duration)
    .option(
      '--max-expiries <number>',
      'expiries in a row before a task is quarantined; 0: never',
      integer(0),
    );
}

/** The rules that were given, as a request takes them. */
export function givenSettings({ enforcement, defaultTtl, maxTtl, maxAge, maxExpiries }: SettingsOptions) {
  return {
    ...(enforcement === undefined ? {} : { enforcement }),
    ...(defaultTtl ? { defaultTtl } : {}),
    ...(maxTtl ? { maxTtl } : {}),
    ...(maxAge ? { maxAge } : {}),
    ...(maxExpiries === undefined ? {} : { maxExpiries }),
  };
}

/** A project with the rules that hold in it; those it has not of its own are marked. */
export function projectText(
  { id, title, createdAt, settings, effectiveSettings }: Project,
  style: Style,
): string {
  const own = rules(settings);
  const holding = rules(effectiveSettings).map(([name, value], at): [string, string] => {
    const inherited = value !== '' && own[at]?.[1] === '';
    return [name, inherited ? `${value} (the server's default)` : value];
  });
  return joinSections(
    `${style.bold(oneLine(id))}  ${oneLine(title)}`,
    details([['created', moment(createdAt)], ...holding], style),
  );
}

function rules(settings: ProjectSettings | undefined): [name: string, value: string][] {
  return [
    ['enforcement', settings?.enforcement ? Enforcement[settings.enforcement] : ''],
    ['default ttl', span(settings?.defaultTtl)],
    ['max ttl', span(settings?.maxTtl)],
    ['max age', settings?.maxAge && settings.maxAge.seconds === 0n ? 'for ever' : span(settings?.maxAge)],
    ['max expiries', settings?.maxExpiries === 0 ? 'unlimited' : String(settings?.maxExpiries ?? '')],
  ];
}
