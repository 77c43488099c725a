import { describe, expect, it, test } from 'vitest';
import { badNames, forbiddenImports, sqlOutsideStore, tooLong } from './rules.js';
import { filesBelow, findCycle, importsOf, isCode, type SourceFile } from './source-files.js';

const product = filesBelow('src', 'clients');
const ours = [...product, ...filesBelow('test', 'bench', 'bin')];

describe('the repository', () => {
  it('was found', () => {
    expect(product.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['src/domain/guard.ts', 'src/rpc/api.ts', 'clients/typescript/src/index.ts']),
    );
  });

  it('has no import that the architecture forbids', () => {
    expect(forbiddenImports(product)).toEqual([]);
  });

  it('has no import of a file that is not there', () => {
    const there = new Set(ours.map(({ path }) => path));
    const missing = product
      .filter(isCode)
      .flatMap(importsOf)
      .filter(({ kind, to }) => kind === 'file' && !there.has(to) && to.startsWith('src/'));
    expect(missing).toEqual([]);
  });

  it('has no files that import each other in a circle', () => {
    expect(findCycle(ours.filter(isCode).flatMap(importsOf))).toBeUndefined();
  });

  it('keeps SQL in the store', () => {
    expect(sqlOutsideStore(product)).toEqual([]);
  });

  it('has no long file', () => {
    expect(tooLong(ours)).toEqual([]);
  });

  it('names its files in kebab case and by what they are', () => {
    expect(badNames(ours)).toEqual([]);
  });

  it('does not let generated code know anything but protobuf', () => {
    expect(forbiddenImports(filesBelow('gen/ts/src'))).toEqual([]);
  });
});

const file = (path: string, text: string): SourceFile => ({ path, text });

describe('imports are found', () => {
  test.each([
    ["import { a } from '../store/x.js';", 'src/store/x.ts'],
    ["import type { A } from '../store/x.js';", 'src/store/x.ts'],
    ["import '../store/x.js';", 'src/store/x.ts'],
    ["import {\n  a,\n  type B,\n} from '../store/x.js';", 'src/store/x.ts'],
    ["export { a } from '../store/x.js';", 'src/store/x.ts'],
    ["export * from '../store/x.js';", 'src/store/x.ts'],
    ["import def, * as all from '../store/x.js';", 'src/store/x.ts'],
    ["const x = await import('../store/x.js');", 'src/store/x.ts'],
    ["type X = import('../store/x.js').X;", 'src/store/x.ts'],
    ["import { Code } from '@connectrpc/connect/protocol';", '@connectrpc/connect'],
    ["import { asc } from 'drizzle-orm/pg-core';", 'drizzle-orm'],
  ])('%s', (text, to) => {
    expect(importsOf(file('src/rpc/a.ts', `const first = 1;\n${text}\n`)).map((found) => found.to)).toEqual([
      to,
    ]);
  });

  test.each(["// import { a } from './x.js';", "/*\nimport { a } from './x.js';\n*/", 'export const a = 1;'])(
    'none: %s',
    (text) => expect(importsOf(file('src/rpc/a.ts', text))).toEqual([]),
  );
});

describe('the rules can fail', () => {
  test.each([
    ['src/domain/a.ts', "import { x } from '../store/x.js';"],
    ['src/domain/a.ts', "import { createHash } from 'node:crypto';"],
    ['src/store/a.ts', "import { x } from '../rpc/x.js';"],
    ['src/store/a.ts', "import { x } from '../cluster/cluster.js';"],
    ['src/store/a.ts', "import { Code } from '@connectrpc/connect';"],
    ['src/feed/a.ts', "import { x } from '../rpc/x.js';"],
    ['src/feed/a.ts', "import { TaskStatus } from '@holdfast/proto/task';"],
    ['src/cluster/a.ts', "import { x } from '../domain/instant.js';"],
    ['src/rpc/a.ts', "import { x } from '../config.js';"],
    ['src/rpc/a.ts', "import { eq } from 'drizzle-orm';"],
    ['src/server/a.ts', "import { x } from '../store/x.js';"],
    ['src/server.ts', "import { TaskService } from '@holdfast/proto/task';"],
    ['src/config.ts', "import { x } from './service.js';"],
    ['src/cli/a.ts', "import { startService } from '../service.js';"],
    ['src/cli/task/a.ts', "import { judge } from '../../domain/guard.js';"],
    ['clients/typescript/src/a.ts', "import { judge } from '../../../src/domain/guard.js';"],
    ['clients/mcp/src/a.ts', "import { x } from '../../typescript/src/x.js';"],
    ['clients/mcp/src/a.ts', "import { x } from 'holdfast';"],
    ['src/elsewhere/a.ts', ''],
  ])('%s: %s', (path, text) => {
    expect(forbiddenImports([file(path, text)])).toHaveLength(1);
  });

  it('sees a circle, also of types', () => {
    const imports = [
      file('src/a.ts', "import { b } from './b.js';"),
      file('src/b.ts', "import type { C } from './c/c.js';"),
      file('src/c/c.ts', "export { a } from '../a.js';"),
    ].flatMap(importsOf);
    expect(findCycle(imports)).toEqual(['src/a.ts', 'src/b.ts', 'src/c/c.ts', 'src/a.ts']);
    expect(findCycle(imports.slice(0, 2))).toBeUndefined();
  });

  test.each([
    ['src/rpc/a.ts', 'await sql`SELECT 1`'],
    ['src/rpc/a.ts', 'await sql<{ a: number }[]>`SELECT 1`'],
    ['src/feed/a.ts', "db.query('DELETE FROM task')"],
    ['src/cli/a.ts', 'const q = `\n  SELECT id FROM task`;'],
    ['src/rpc/a.sql', ''],
  ])('sees SQL in %s: %s', (path, text) => {
    expect(sqlOutsideStore([file(path, text)])).toEqual([path]);
  });

  it('takes no sentence for SQL', () => {
    const text = "'Create the task, update it, delete it or select another from the list.'";
    expect(sqlOutsideStore([file('src/cli/a.ts', text)])).toEqual([]);
  });

  it('sees a long file', () => {
    expect(tooLong([file('src/a.ts', 'x\n'.repeat(399)), file('src/b.ts', 'x\n'.repeat(400))])).toEqual([
      'src/b.ts',
    ]);
  });

  it('sees bad names', () => {
    const names = [
      'src/taskQueue.ts',
      'src/task_queue.ts',
      'src/rpc/utils.ts',
      'src/helpers/a.ts',
      'src/Ab.ts',
    ];
    const good = ['src/task-queue.ts', 'src/a.test.ts', 'src/rpc/v1.ts', 'src/command.ts'];
    expect(badNames([...names, ...good].map((path) => file(path, '')))).toEqual(names);
  });
});
