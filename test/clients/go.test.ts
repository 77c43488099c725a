import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { startTestService } from '../support/service.js';
import { GO_CLIENT, go, gofmt, missingGo } from './go-toolchain.js';

const MINUTE_MS = 60_000;

const missing = await missingGo();
if (missing) console.warn(`\n*** THE GO CLIENT IS NOT TESTED: ${missing}\n`);

it.runIf(missing && process.env.CI)('has the toolchain, where all tests must run', () => {
  expect.unreachable(`install Go 1.26 or newer: ${missing}`);
});

// The first run compiles the standard library, and fetches what the module needs.
describe.skipIf(missing)('the Go client', { timeout: 15 * MINUTE_MS }, () => {
  it('is formatted', async () => {
    expect(await gofmt(GO_CLIENT)).toEqual({ code: 0, output: '' });
  });

  it('is vetted', async () => {
    expect(await go(['vet', './...'], GO_CLIENT)).toEqual({ code: 0, output: '' });
  });

  it('has nothing that staticcheck finds', async () => {
    const checked = await go(['tool', '-modfile=lint.mod', 'staticcheck', './...'], GO_CLIENT);
    expect(checked.output.replace(/^go: downloading .*\n/gm, '')).toBe('');
    expect(checked.code).toBe(0);
  });

  it('needs exactly what go.mod says', async () => {
    expect(await go(['mod', 'tidy', '-diff'], GO_CLIENT)).toMatchObject({ code: 0 });
  });

  it('passes its tests, the shared scenarios among them', async () => {
    const { output } = await go(['test', '-json', '-timeout', '10m', './...'], GO_CLIENT, {
      HOLDFAST_TEST_SERVER: 'required',
      TEST_DATABASE_URL: inject('postgresUrl'),
    });
    const { failed, skipped, passed } = outcomes(output);
    expect(failed).toEqual([]);
    expect(skipped).toEqual([]);
    expect(passed).toBeGreaterThan(100);
  });
});

/** One line of `go test -json`. */
interface GoEvent {
  readonly Action: string;
  readonly Package?: string;
  readonly Test?: string;
  readonly Output?: string;
}

function outcomes(output: string) {
  const events = output
    .split('\n')
    .flatMap((line): GoEvent[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const named = (action: string) => events.filter(({ Action, Test }) => Action === action && Test);
  const said = (test: string | undefined) =>
    events.flatMap(({ Test, Output }) => (Test === test && Output ? [Output] : [])).join('');
  const failed = named('fail').map(({ Test }) => `${Test}:\n${said(Test)}`);
  // A package that does not compile, or whose process ends early, has no failed test.
  const broken = events.some(({ Action, Test }) => Action === 'fail' && !Test) && failed.length === 0;
  return {
    failed: broken || events.length === 0 ? [output.slice(-5_000)] : failed,
    skipped: named('skip').map(({ Test }) => Test),
    passed: named('pass').length,
  };
}

const PROGRAM = /```go\n(package main\n[\s\S]*?)```/g;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An empty module that has the client by its folder, and a program. */
async function moduleWith(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-go-'));
  folders.push(folder);
  writeFileSync(join(folder, 'main.go'), program);
  for (const args of [
    ['mod', 'init', 'example.com/program'],
    ['mod', 'edit', '-require=holdfast.dev/go@v0.0.0', `-replace=holdfast.dev/go=${GO_CLIENT}`],
    ['mod', 'tidy'],
  ]) {
    expect(await go(args, folder)).toMatchObject({ code: 0 });
  }
  return folder;
}

function programsOf(document: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${document}`, import.meta.url)), 'utf8');
  return [...text.matchAll(PROGRAM)].map(([, program]) => program ?? '');
}

describe.skipIf(missing)('the Go programs of the docs', { timeout: 5 * MINUTE_MS }, () => {
  it('the one of clients.md works in an empty project', async () => {
    const service = await startTestService({ settings: { enforcement: 'ENFORCE' } });
    const owner = service.client(service.ownerToken);
    const { task } = await owner.tasks.createTask({ title: 'Write the parser' });
    const [program = ''] = programsOf('clients.md');
    expect(program).toContain('"http://localhost:7420"');
    const folder = await moduleWith(program.replace('http://localhost:7420', service.url));
    const token = await service.token('AGENT', 'agent', 'ada');
    const ran = await go(['run', '.'], folder, { HOLDFAST_TOKEN: token });
    expect(ran).toEqual({ code: 0, output: '' });
    const read = await owner.tasks.getTask({ taskId: task?.id ?? '' });
    expect(read.task).toMatchObject({ closedBy: 'ada', result: 'done: Write the parser' });
  });

  it('the one of watch.md compiles', async () => {
    const [program = ''] = programsOf('watch.md');
    expect(await go(['vet', '.'], await moduleWith(program))).toEqual({ code: 0, output: '' });
  });
});
