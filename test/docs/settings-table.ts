import { SETTINGS } from '../../src/config.js';

/** The server's settings as a Markdown table. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { meaning, default: value }]) => `| \`${name}\` | ${value ? `\`${value}\`` : ''} | ${meaning} |`,
  );
  return ['| setting | default | meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
}
