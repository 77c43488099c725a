import { Enforcement } from '@holdfast/proto/guard';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { Cli } from './holdfast-process.js';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  cli = new Cli({ HOLDFAST_URL: service.url, HOLDFAST_TOKEN: service.ownerToken });
});
afterAll(() => cli?.remove());

const READY = /^Ready to enforce: since \S+ \S+ UTC, no write was done that ENFORCE would have refused\.\n$/;

test('report says whether locks can be enforced, and --check makes that its exit code', async () => {
  expect(await cli.run('report', '--check')).toMatchObject({ code: 0, stdout: expect.stringMatching(READY) });

  const agent = service.client(await service.token('AGENT', 'agent', 'ada'), 'run-1');
  const { task } = await agent.tasks.createTask({ title: 'a task', executionId: 'run-1' });
  const note = { taskId: task?.id ?? '', text: 'without a proof', executionId: 'run-1' };
  await agent.tasks.addNote(note);

  const told = await cli.run('report');
  expect(told).toMatchObject({ code: 0, stderr: '' });
  const [sentence, blank, heading, line, ...rest] = told.stdout.split('\n');
  expect(sentence).toMatch(
    /^Not ready to enforce: .* 1 write by 1 principal, AddNote of ada with LOCK_REQUIRED;/,
  );
  expect([blank, heading]).toEqual(['', 'DAY         PRINCIPAL  VERDICT        RPC      WRITES']);
  expect(line).toMatch(/^\d{4}-\d\d-\d\d {2}ada {8}LOCK_REQUIRED {2}AddNote {2}1$/);
  expect(rest).toEqual(['']);

  const checked = await cli.run('report', '--check', '--json');
  expect(checked).toMatchObject({ code: 3, stderr: '' });
  expect(JSON.parse(checked.stdout)).toMatchObject({
    counts: [{ principal: 'ada', code: 'WRITE_CODE_LOCK_REQUIRED', rpc: 'AddNote', writes: '1' }],
    readyToEnforce: false,
  });

  expect(await cli.run('report', '--since', '2999-01-01')).toMatchObject({
    code: 1,
    stderr: 'error: since: must not be in the future\n',
  });

  const owner = service.client(service.ownerToken);
  await owner.projects.updateProject({ settings: { enforcement: Enforcement.ENFORCE } });
  await expect(agent.tasks.addNote(note)).rejects.toThrow('LOCK_REQUIRED');
  expect(await cli.run('report', '--check')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ENFORCE is on: it refused 1 write by 1 principal since .*\n\nDAY /),
  });
});
