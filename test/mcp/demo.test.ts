import { afterEach, beforeEach, expect, it } from 'vitest';
import { lineWith, noTraces, TracedCli } from '../cli/demo-traces.js';

let cli: TracedCli;

beforeEach(() => {
  cli = new TracedCli();
});
afterEach(() => cli.remove());

/** The bridges that run now. */
const bridges = () => cli.traces().processes.filter((line) => line.includes('holdfast.js mcp'));

it('plays its scenes with agents that know nothing but MCP', { timeout: 120_000 }, async () => {
  const { child, outcome } = cli.start('demo', '--mcp');
  await lineWith(child, 'reaches for');
  expect(bridges()).toHaveLength(2);
  const { code, stdout, stderr } = await outcome;
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('each with a `holdfast mcp` of its own');
  expect(stdout).toMatch(/refused: STOP:\s[\s\S]*your lease on task/);
  expect(stdout).toContain('All as told.');
  expect(cli.traces()).toEqual(noTraces);
});

it('leaves no bridge behind when it is stopped', { timeout: 120_000 }, async () => {
  const { child, outcome } = cli.start('demo', '--mcp');
  await lineWith(child, 'reaches for');
  child.kill('SIGINT');
  expect(await outcome).toMatchObject({ code: 130, stderr: 'stopped by SIGINT\n' });
  expect(cli.traces()).toEqual(noTraces);
});

it('is not about the seed', async () => {
  const { code, stderr } = await cli.run('demo', '--seed', '--mcp');
  expect(code).toBe(2);
  expect(stderr).toContain('--mcp goes without --seed');
});
