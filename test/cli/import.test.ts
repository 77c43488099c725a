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
    expect(stdout).toBe('Imported PLAN.md: 4 tasks in 2 plans: 4 new, 0 updated, 0 unchanged.\n');
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
    write('# Guide\n- [ ] New\n- [ ] Read\n- [x] Write\n  changed\n  - [x] Draft\n## Later\n- [ ] Rest\n');
    const { stdout } = await importFile('--json');
    const actions = JSON.parse(stdout).results.map(({ action, line }: { action: string; line: number }) => [
      line,
      action,
    ]);
    expect(actions).toEqual([
      [2, 'IMPORT_ACTION_CREATED'],
      [3, 'IMPORT_ACTION_UNCHANGED'],
      [4, 'IMPORT_ACTION_UPDATED'],
      [6, 'IMPORT_ACTION_UPDATED'],
      [8, 'IMPORT_ACTION_UNCHANGED'],
    ]);
    expect(await tasks()).toEqual([
      { title: 'Read', body: '', status: 'DONE' },
      { title: 'Write', body: 'changed', status: 'DONE' },
      { title: 'Write › Draft', body: '', status: 'DONE' },
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
    { name: 'no items', text: '# A\n- b\n', says: 'there are no checklist items' },
    { name: 'nothing at all', text: '', says: 'there are no checklist items' },
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

  it('lets an item with items in it be claimed after those', async () => {
    write('- [ ] Outer\n  - [ ] Inner\n- [x] Checked\n  - [ ] Left over\n');
    await importFile();
    const ready = await cli.run('ready', '--json');
    expect(JSON.parse(ready.stdout).tasks.map(({ title }: { title: string }) => title)).toEqual([
      'Outer › Inner',
      'Checked › Left over',
    ]);
  });

  it('says what a finished item still waits for here, and imports nothing', async () => {
    write('- [ ] Outer\n  - [ ] Inner\n');
    await importFile();
    write('- [ ] New\n- [x] Outer\n');
    const { code, stderr } = await importFile();
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was imported\nPLAN.md:2: it is DONE in the list, but waits for');
    expect(await tasks()).toHaveLength(2);
  });

  it("exits 3 when an agent's import would change tasks that it does not hold, and says which", async () => {
    const project = cli.env.HOLDFAST_PROJECT ?? '';
    write('# Guide\n- [x] Read\n- [ ] Write\n');
    await importFile();
    const { token } = await owner.projects.createToken({ project, principal: 'builder', kind: 1, role: 1 });
    cli.env.HOLDFAST_TOKEN = token;
    write('# Guide\n- [x] Read\n- [x] Write\n- [x] Done long ago\n');
    const { code, stdout, stderr } = await importFile();
    expect(code).toBe(3);
    expect(stdout).toContain('1 new, 0 updated, 1 unchanged, 1 refused');
    expect(stderr).toContain('PLAN.md:3: LOCK_REQUIRED');
    expect((await tasks()).map(({ status }) => status)).toEqual(['DONE', 'OPEN', 'DONE']);
  });

  it('takes a beads export and a tasks.json by their content, again too', async () => {
    const issues = [
      { id: 'app-1', title: 'Epic', issue_type: 'epic' },
      { id: 'app-2', title: 'First', dependencies: [{ depends_on_id: 'app-1', type: 'parent-child' }] },
      {
        id: 'app-3',
        title: 'Second',
        priority: 0,
        dependencies: [{ depends_on_id: 'app-2', type: 'blocks' }],
      },
    ];
    writeFileSync(join(cli.folder, 'issues.jsonl'), issues.map((issue) => JSON.stringify(issue)).join('\n'));
    const list = [{ id: 1, title: 'A', subtasks: [{ id: 1, title: 'B' }] }];
    writeFileSync(join(cli.folder, 'tasks.json'), JSON.stringify({ master: { tasks: list } }));
    expect((await cli.run('import', 'issues.jsonl')).stdout).toBe(
      'Imported issues.jsonl: 3 tasks: 3 new, 0 updated, 0 unchanged.\n',
    );
    expect((await cli.run('import', 'tasks.json')).stdout).toBe(
      'Imported tasks.json: 2 tasks in 1 plan: 2 new, 0 updated, 0 unchanged.\n',
    );
    const { stdout } = await cli.run('ready', '--json');
    expect(JSON.parse(stdout).tasks.map(({ title }: { title: string }) => title)).toEqual(['First', 'B']);
    expect((await cli.run('import', 'issues.jsonl')).stdout).toContain('0 new, 0 updated, 3 unchanged');
    expect((await cli.run('import', 'tasks.json')).stdout).toContain('0 new, 0 updated, 2 unchanged');
  });

  it('keeps all of a long file out for an error at its end, unless asked', async () => {
    const issue = (n: number, to = n - 1) =>
      JSON.stringify({
        id: `i-${n}`,
        title: `T${n}`,
        dependencies: n > 0 ? [{ depends_on_id: `i-${to}` }] : [],
      });
    const issues = Array.from({ length: 1_200 }, (_, n) => issue(n));
    writeFileSync(join(cli.folder, 'long.jsonl'), [...issues, issue(1_200, 9_999)].join('\n'));
    const refused = await cli.run('import', 'long.jsonl');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('long.jsonl:1201: blocked_by names "bd:i-9999"');
    expect(await tasks()).toEqual([]);
    const partly = await cli.run('import', 'long.jsonl', '--allow-partial');
    expect(partly).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('1200 new, 0 updated, 0 unchanged, 1 refused'),
    });
    const dry = await cli.run('import', 'long.jsonl', '--dry-run', '--allow-partial', '--json');
    const results: { action: string }[] = JSON.parse(dry.stdout).results;
    expect(results.filter(({ action }) => action === 'IMPORT_ACTION_UNCHANGED')).toHaveLength(1_200);
  });
});
