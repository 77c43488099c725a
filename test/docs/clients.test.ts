import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { blocksOf, ROOT, readDocument } from './documents.js';

const run = promisify(execFile);
// Below the package, so that its imports are found as by an installed copy.
const program = `${ROOT}clients/typescript/dist/documented-${process.pid}.ts`;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
});
afterAll(async () => {
  rmSync(program, { force: true });
  await service.stop();
});

test.each(['docs/clients.md', 'clients/typescript/README.md'])(
  'the TypeScript program of %s works',
  async (path) => {
    const [block] = blocksOf(readDocument(path).text).filter(({ language }) => language === 'ts');
    const lines = block?.text.trim().split('\n') ?? [];
    expect(lines.length).toBeLessThanOrEqual(11);
    const owner = service.client(service.ownerToken);
    const { task } = await owner.tasks.createTask({ title: 'a task' });
    writeFileSync(program, lines.join('\n').replaceAll('http://localhost:7420', service.url));
    const HOLDFAST_TOKEN = await service.token('AGENT', 'agent', 'ada');
    await run(process.execPath, ['--import', 'tsx', program], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOLDFAST_TOKEN },
    });
    const { task: done } = await owner.tasks.getTask({ taskId: task?.id ?? '' });
    expect(done?.result).toBe('done: a task');
  },
);
