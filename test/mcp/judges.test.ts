import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { installJudges, type Judges } from './judges.js';
import { setUpPlace } from './place.js';
import { startTokenProxy } from './token-proxy.js';

/** Installing comes first, where that has not been done before. */
const INSTALL_MS = 300_000;
const JUDGING_MS = 240_000;

const binary = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const place = setUpPlace();
let home: string;
let judges: Judges;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-judges-'));
  judges = await installJudges(home);
}, INSTALL_MS);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the MCP conformance suite', { timeout: JUDGING_MS }, () => {
  const judge = (url: string, version: string) =>
    judges.conformance(
      ...['--url', `${url}/mcp`, '--suite', 'all', '--spec-version', version, '--expected-failures'],
      fileURLToPath(new URL(`judges/not-ours-${version}.yaml`, import.meta.url)),
    );

  it.each(['2026-07-28', '2025-11-25'])('finds no fault by %s', async (version) => {
    const proxy = await startTokenProxy(place.service.url, place.adaToken);
    try {
      const { code, stdout } = await judge(proxy.url, version);
      expect(code, stdout.slice(stdout.indexOf('=== SUMMARY'))).toBe(0);
      expect(stdout).toMatch(/✓ tools-list: \d+ passed, 0 failed/);
      expect(stdout).toContain('Baseline check passed');
    } finally {
      proxy.close();
    }
  });

  it('would find one where nobody has a token', async () => {
    expect((await judge(place.service.url, '2026-07-28')).code).toBe(1);
  });
});

describe("the MCP Inspector's command line", { timeout: JUDGING_MS }, () => {
  const ways: [name: string, to: () => { before: string[]; after: string[] }][] = [
    [
      'stdio',
      () => ({
        before: ['-e', `HOLDFAST_URL=${place.service.url}`, '-e', `HOLDFAST_TOKEN=${place.adaToken}`],
        after: ['--', process.execPath, binary, 'mcp'],
      }),
    ],
    [
      'HTTP',
      () => ({
        before: [
          ...['--server-url', `${place.service.url}/mcp`, '--transport', 'http'],
          ...['--header', `Authorization: Bearer ${place.adaToken}`],
        ],
        after: [],
      }),
    ],
  ];
  const eras = ['modern', 'legacy'];

  test.each(ways.flatMap(([name, to]) => eras.map((era) => [name, era, to] as const)))(
    'lists, reads and calls over %s, %s',
    async (_name, era, to) => {
      const { before, after } = to();
      const inspect = async (...args: string[]) => {
        const given = [...before, '--protocol-era', era, '--format', 'json', ...args, ...after];
        const { code, stdout, stderr } = await judges.inspector(...given);
        return { code, stderr, result: JSON.parse(stdout || '{}').result };
      };
      const task = await place.newTask('Write the changelog');
      // Strict: it also judges whether the schemas are fit for every client.
      const listed = await inspect('--method', 'tools/list', '--strict');
      expect(listed, listed.stderr).toMatchObject({ code: 0 });
      expect(listed.result.tools).toHaveLength(13);
      const board = await inspect('--method', 'resources/read', '--uri', 'holdfast://board');
      expect(board.result.contents[0].text).toContain('Write the changelog');
      const prompts = await inspect('--method', 'prompts/list');
      expect(prompts.result.prompts).toHaveLength(2);

      const call = (tool: string, ...args: string[]) =>
        inspect('--method', 'tools/call', '--tool-name', tool, ...args);
      const granted = await call('acquire_task', '--tool-arg', `task_id=${task}`, 'execution_id=run-1');
      expect(granted.result.structuredContent).toMatchObject({ acquired: true, execution_id: 'run-1' });
      const wrong = await call('get_task');
      expect(wrong).toMatchObject({ code: 5, result: { isError: true } });
      expect(wrong.result.content[0].text).toContain('task_id (string, required)');
    },
  );
});
