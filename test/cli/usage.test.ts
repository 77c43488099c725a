import { afterAll, describe, expect, it } from 'vitest';
import { Cli } from './holdfast-process.js';

// Nothing here gets as far as a server.
const cli = new Cli({ HOLDFAST_URL: 'http://127.0.0.1:9', HOLDFAST_TOKEN: 'hf_test' });
afterAll(() => cli.remove());

describe('the command line', () => {
  it.concurrent('prints help when called alone', async () => {
    const { code, stdout } = await cli.run();
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: holdfast');
    expect(stdout).toContain('claim [options] [task]');
  });

  it.concurrent('prints its version', async () => {
    expect(await cli.run('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it.concurrent('shows examples in the help of a command', async () => {
    const { code, stdout } = await cli.run('task', 'add', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('$ holdfast task add "Write the parser"');
  });

  it.concurrent.each([
    { args: ['clam'], says: 'Did you mean claim?' },
    { args: ['task', 'lst'], says: 'Did you mean list?' },
    { args: ['task', 'list', '--lmit', '3'], says: 'Did you mean --limit?' },
    { args: ['task', 'add'], says: "missing required argument 'title'" },
    { args: ['task', 'list', '--limit', '0'], says: 'It must be a whole number from 1' },
    { args: ['task', 'list', '--status', 'lost'], says: 'open, in_progress, done' },
    { args: ['claim', '--ttl', 'soon'], says: 'such as 90s' },
    { args: ['claim', 'task-1', '--label', 'x'], says: 'name none then' },
    { args: ['task', 'done', 'task-1', '--lease', 'x'], says: '--lease and --fence go together' },
    { args: ['task', 'update', 'task-1'], says: 'nothing to change' },
    { args: ['release', 'task-1'], says: 'Set HOLDFAST_EXECUTION_ID' },
    { args: ['run', 'task-1'], says: 'Put the command after --' },
    { args: ['force-release', 'task-1'], says: "required option '--reason <text>'" },
    { args: ['task', 'list', '--url', 'nowhere'], says: 'is not a server' },
  ])('exits 2 for wrong usage: $args', async ({ args, says }) => {
    const { code, stdout, stderr } = await cli.run(...args);
    expect(stderr).toContain(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it.concurrent('tells wrong usage as JSON, too', async () => {
    const { code, stderr } = await cli.run('task', 'list', '--json', '--limit', 'x');
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'USAGE' } });
  });
});
