import type { Style } from '../style.js';
import { printable } from '../text.js';
import type { Check } from './checks.js';
import type { Finale } from './finale.js';
import { seconds } from './lanes.js';
import type { Place } from './place.js';

/** Whether each scene happened as told, what differed, and what to try next. */
export function summary({ scenes, durationMs, place }: Finale, style: Style): string {
  const ok = scenes.every((scene) => scene.ok);
  const lines = scenes.flatMap(({ title, ok, checks }) => [
    `${ok ? style.green('✓') : style.red('✗')} ${title}`,
    ...checks.filter((check) => !check.ok).map((check) => differed(check, style)),
    ...(checks.length === 0 ? ['    the demo did not get that far'] : []),
  ]);
  const count = scenes.reduce((sum, { checks }) => sum + checks.length, 0);
  const verdict = ok
    ? `${style.green(style.bold('All as told.'))} ${count} checks of the answers and of the history, in ${seconds(durationMs)}.`
    : `${style.red(style.bold('Not as told.'))} After ${seconds(durationMs)}.`;
  return `${lines.join('\n')}\n\n${verdict}\n${nextSteps(place)}`;
}

function differed({ what, expected, actual }: Check, style: Style): string {
  return printable(`    ${what}: expected ${style.bold(expected)}, was ${style.bold(actual)}`);
}

function nextSteps({ own, project, connection: { url } }: Place): string {
  if (own) {
    return `\nThe server, its data and the agents are gone. Try next:\n${commands([
      ['npm start', 'a server that stays'],
      ['npx holdfast demo --against URL', 'the same there, in a project that stays'],
      ['npx holdfast demo --seed', 'a plan for two real agents, and their prompt'],
    ])}`;
  }
  const there = `--url ${url} --project ${project}`;
  const timeline = `${url}/#/p/${project}/timeline`;
  return `\nThe project ${project} stays. Look at it:\n  ${timeline}\n${commands([
    [`npx holdfast task list ${there}`],
    [`npx holdfast history --oldest-first ${there}`],
  ])}\nTry next:\n${commands([[`npx holdfast demo --seed --against ${url}`, 'for two real agents']])}`;
}

function commands(list: readonly (readonly [command: string, what?: string])[]): string {
  const width = Math.max(...list.map(([command]) => command.length));
  return list
    .map(([command, what = '']) => `  ${what ? `${command.padEnd(width)}  ${what}` : command}`)
    .join('\n');
}
