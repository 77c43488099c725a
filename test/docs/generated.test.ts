import { expect, test } from 'vitest';
import { accessTable } from './access-table.js';
import { allCommands, renderCommands } from './commands.js';
import { ROOT, readDocument, withPart } from './documents.js';
import { metricsTable } from './metrics-table.js';
import { settingsTable } from './settings-table.js';

// `npx vitest run test/docs -u` writes what has changed.

test('the README has the settings as the code has them', async () => {
  const { text } = readDocument('README.md');
  await expect(withPart(text, 'settings', settingsTable())).toMatchFileSnapshot(`${ROOT}README.md`);
});

test('docs/access.md has who may call what as the code has it', async () => {
  const { text } = readDocument('docs/access.md');
  await expect(withPart(text, 'access', accessTable())).toMatchFileSnapshot(`${ROOT}docs/access.md`);
});

test('docs/operations.md has the metrics as the code has them', async () => {
  const { text } = readDocument('docs/operations.md');
  await expect(withPart(text, 'metrics', await metricsTable())).toMatchFileSnapshot(
    `${ROOT}docs/operations.md`,
  );
});

// It loads every command: on a busy machine that takes its time.
test('docs/cli.md has the commands as their help has them', { timeout: 180_000 }, async () => {
  const { text } = readDocument('docs/cli.md');
  const commands = renderCommands(await allCommands());
  await expect(withPart(text, 'commands', `\n${commands}\n`)).toMatchFileSnapshot(`${ROOT}docs/cli.md`);
});
