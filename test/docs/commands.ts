import { execFileSync } from 'node:child_process';
import type { Argument, Command, Option } from 'commander';
import { ROOT } from './documents.js';

/** A command that does something: a group such as `holdfast task` is none. */
export interface DocumentedCommand {
  /** As typed: `holdfast task add`. */
  readonly name: string;
  /** Under which heading of `holdfast --help` it stands. */
  readonly group: string;
  readonly command: Command;
}

/** The commands of the built `holdfast`, in the order of its help. */
export async function allCommands(): Promise<DocumentedCommand[]> {
  const help = execFileSync(process.execPath, [`${ROOT}bin/holdfast.js`, '--help'], { encoding: 'utf8' });
  const found: DocumentedCommand[] = [];
  for (const [, group = '', lines = ''] of help.matchAll(/^(\w+):\n((?: {2}.*\n)+)/gm)) {
    if (group === 'Options' || group === 'Commands') continue;
    for (const [, name = ''] of lines.matchAll(/^ {2}([a-z-]+)/gm)) {
      found.push(...leaves(await load(name), 'holdfast', group));
    }
  }
  return found;
}

async function load(name: string): Promise<Command> {
  const module = await import(`../../src/cli/${name}.ts`);
  const factory = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return module[`${factory}Command`]([]);
}

function leaves(command: Command, parent: string, group: string): DocumentedCommand[] {
  const name = `${parent} ${command.name()}`;
  const inner = command.commands.flatMap((one) => leaves(one, name, group));
  return inner.length === 0 || actsItself(command) ? [{ name, group, command }, ...inner] : inner;
}

/** Commander does not tell it in public. */
const actsItself = (command: Command): boolean =>
  Boolean((command as unknown as { _actionHandler: unknown })._actionHandler);

const isShared = (option: Option) => option.helpGroupHeading === 'Shared options:';

/** The page's part that is made from the commands themselves. */
export function renderCommands(commands: readonly DocumentedCommand[]): string {
  const groups = [...new Set(commands.map(({ group }) => group))];
  const shared = commands.flatMap(({ command }) => command.options).filter(isShared);
  const once = shared.filter((option, at) => shared.findIndex(({ flags }) => flags === option.flags) === at);
  return [
    `## Shared options\n\nEvery command but \`serve\`, \`dashboard\`, \`admin\`, \`demo\` and \`mcp install\` has these.\n\n${optionTable(once)}`,
    ...groups.map((group) =>
      [`## ${group}`, ...commands.filter((one) => one.group === group).map(render)].join('\n\n'),
    ),
  ]
    .map((section) => `${section}\n`)
    .join('\n');
}

function render({ name, command }: DocumentedCommand): string {
  const usage = ['[options]', ...command.registeredArguments.map(placeholder)].join(' ');
  const own = command.options.filter((option) => !isShared(option));
  const { examples, rest } = afterHelp(command);
  return [
    `### ${name}`,
    `${command.description()}.`,
    `\`\`\`text\n${name} ${usage}\n\`\`\``,
    ...(command.registeredArguments.length + own.length > 0
      ? [optionTable(own, command.registeredArguments)]
      : []),
    ...(rest ? [`\`\`\`text\n${rest}\n\`\`\``] : []),
    ...(examples ? [`\`\`\`sh\n${examples}\n\`\`\``] : []),
  ].join('\n\n');
}

function placeholder(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function optionTable(options: readonly Option[], operands: readonly Argument[] = []): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const rows = [
    ...operands.map((operand) => [`\`${placeholder(operand)}\``, cell(operand.description)]),
    ...options.map((option) => {
      const fallback = option.defaultValueDescription ?? option.defaultValue;
      const text = option.description + (fallback === undefined ? '' : ` (default: ${fallback})`);
      return [`\`${option.flags}\``, cell(text)];
    }),
  ];
  return [
    '| argument or option | meaning |',
    '| --- | --- |',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
}

/** What follows the options in a command's help: its examples, and the other words. */
function afterHelp(command: Command): { examples: string; rest: string } {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const after = help.slice(command.helpInformation().length);
  const examples = [...after.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line]) => line).join('\n');
  const rest = after.replace(/^Examples:\n(?: {2}\$ .*\n?)*/m, '').trim();
  return { examples, rest };
}

/** What is wrong with command lines of `holdfast` in a text; empty: nothing. */
export function wrongCommandLines(text: string, commands: readonly DocumentedCommand[]): string[] {
  const lines = [...text.matchAll(/\bholdfast ([a-z][^\n`|;)]*)/g)].map(([, line = '']) => line.trim());
  return lines.flatMap((line) => {
    const words = line.split(/\s+/);
    // Of a command and its subcommand, the subcommand.
    const one = commands.findLast(({ name }) => {
      const path = name.split(' ').slice(1);
      return path.every((word, at) => word === words[at]);
    });
    if (!one) return [`holdfast ${line}: there is no such command`];
    const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
    const known = new Set(one.command.options.flatMap(({ long, short }) => [long, short]));
    return own
      .filter((word) => /^--?[a-z]/.test(word) && !known.has(word.replace(/=.*/, '')))
      .map((flag) => `${one.name} has no option ${flag}`);
  });
}
