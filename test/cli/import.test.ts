import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHoldfast, type Holdfast } from '@holdfast/client';
import { TaskStatus } from '@holdfast/proto/task';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Cli, type Outcome } from './holdfast-process.js';
import { type RealServer, startRealServer } from './real-server.js';

let server: RealServer;
let owner: Holdfast;
let cli: Cli;
let projects = 0;

beforeAll(async () => {
  server = await startRealServer();
  owner = createHoldfast({ url: server.url, token: server.ownerToken });
});
afterAll(async () => {
  owner?.close();
  await server?.stop();
});

beforeEach(async () => {
  const project = `import-${++projects}`;
  await owner.projects.createProject({ project });
  cli = new Cli({ HOLDFAST_URL: server.url, HOLDFAST_TOKEN: server.ownerToken, HOLDFAST_PROJECT: project });
});
afterEach(() => cli.remove());

function write(text: string | Uint8Array): void {
  writeFileSync(join(cli.folder, 'PLAN.md'), text);
}

function importFile(...args: string[]): Promise<Outcome> {
  return cli.run('import', 'PLAN.md', ...args);
}

async function tasks() {
  const { tasks } = await owner.tasks.listTasks({ project: cli.env.HOLDFAST_PROJECT ?? '' });
  return tasks.map(({ title, body, status }) => ({ title, body, status: TaskStatus[status] }));
}

const PLAN = '# Guide\n- [x] Read\n- [ ] Write\n  with care\n  - [ ] Draft\n## Later\n- [ ] Rest\n';

describe('import', () => {
  it('turns headings into plans and items into their steps', async () => {
    write(PLAN);
    const { code, stdout, stderr } = await importFile();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('Imported PLAN.md: 4 steps in 2 plans: 4 new, 0 newly done, 0 unchanged.\n');
    expect(await tasks()).toEqual([
      { title: 'Read', body: '', status: 'DONE' },
      { title: 'Write', body: 'with care', status: 'OPEN' },
      { title: 'Write › Draft', body: '', status: 'OPEN' },
      { title: 'Rest', body: '', status: 'OPEN' },
    ]);
    const shown = await cli.run('plan', 'show', 'key:PLAN.md#Guide', '--json');
    const { plan, steps } = JSON.parse(shown.stdout);
    expect(plan).toMatchObject({ title: 'Guide', stepsDone: 1, stepsTotal: 3 });
    expect(steps.map(({ title }: { title: string }) => title)).toEqual(['Read', 'Write', 'Write › Draft']);
  });

  it('duplicates nothing the second time, completes what was checked since, and adds what is new', async () => {
    write(PLAN);
    await importFile();
    write('# Guide\n- [ ] New\n- [ ] Read\n- [x] Write\n  changed\n  - [ ] Draft\n## Later\n- [ ] Rest\n');
    const { stdout } = await importFile('--json');
    const actions = JSON.parse(stdout).results.map(({ action, line }: { action: string; line: number }) => [
      line,
      action,
    ]);
    expect(actions).toEqual([
      [2, 'IMPORT_ACTION_CREATED'],
      [3, 'IMPORT_ACTION_UNCHANGED'],
      [4, 'IMPORT_ACTION_UPDATED'],
      [6, 'IMPORT_ACTION_UNCHANGED'],
      [8, 'IMPORT_ACTION_UNCHANGED'],
    ]);
    expect(await tasks()).toEqual([
      { title: 'Read', body: '', status: 'DONE' },
      { title: 'Write', body: 'with care', status: 'DONE' },
      { title: 'Write › Draft', body: '', status: 'OPEN' },
      { title: 'Rest', body: '', status: 'OPEN' },
      { title: 'New', body: '', status: 'OPEN' },
    ]);
  });

  it('shows what would happen, and writes nothing', async () => {
    write(PLAN);
    const { code, stdout } = await importFile('--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('created    [x] Read\n');
    expect(stdout).toContain('Nothing was written.');
    expect(await tasks()).toEqual([]);
  });

  it('names the plan of a file without headings', async () => {
    write('- [ ] a\n');
    await importFile('--plan', 'Odds and ends');
    const { stdout } = await cli.run('plan', 'show', 'key:PLAN.md');
    expect(stdout).toContain('Odds and ends  0/1');
  });

  it.each([
    {
      name: 'a title too long',
      text: `# A\n- [ ] ok\n- [ ] ${'x'.repeat(501)}\n`,
      says: 'PLAN.md:3: this item',
    },
    { name: 'no items', text: '# A\n- b\n', says: 'PLAN.md has no checklist items' },
    { name: 'nothing at all', text: '', says: 'PLAN.md has no checklist items' },
    { name: 'no text', text: new Uint8Array([0xff, 0xfe, 0x00]), says: 'PLAN.md is not UTF-8 text' },
  ])('imports nothing of a file with $name', async ({ text, says }) => {
    write(text);
    const { code, stdout, stderr } = await importFile();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(says);
    expect(await tasks()).toEqual([]);
  });

  it.each([
    { file: 'nope.md', says: 'there is no file nope.md' },
    { file: '.', says: '. is a folder' },
  ])('says what is wrong with $file', async ({ file, says }) => {
    const { code, stderr } = await cli.run('import', file);
    expect(code).toBe(1);
    expect(stderr).toContain(says);
  });

  it("exits 3 when an agent's import would finish tasks without a lease, and says which", async () => {
    const project = cli.env.HOLDFAST_PROJECT ?? '';
    const { token } = await owner.projects.createToken({ project, principal: 'builder', kind: 1, role: 1 });
    cli.env.HOLDFAST_TOKEN = token;
    write(PLAN);
    const { code, stdout, stderr } = await importFile();
    expect(code).toBe(3);
    expect(stdout).toContain('3 new, 0 newly done, 0 unchanged, 1 refused');
    expect(stderr).toContain('PLAN.md:2: Refused, LOCK_REQUIRED');
    expect((await tasks())[0]).toEqual({ title: 'Read', body: '', status: 'OPEN' });
  });
});
