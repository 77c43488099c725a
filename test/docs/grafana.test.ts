import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hold, startBoard } from '../rpc/board.js';
import { readMetrics } from '../support/metrics.js';
import { ROOT } from './documents.js';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource: unknown;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly {
    readonly expr: string;
    readonly legendFormat: string;
    readonly refId: string;
  }[];
}

const dashboard = JSON.parse(readFileSync(`${ROOT}docs/grafana.json`, 'utf8'));
const panels: readonly Panel[] = dashboard.panels;
const targets = panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));

/** Each time series of a scrape: a metric with its labels. */
async function scrape(url: string): Promise<{ name: string; labels: ReadonlyMap<string, string> }[]> {
  return Object.keys(await readMetrics(url)).map((series) => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
    const pairs = labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
    return { name, labels: new Map([...pairs].map(([, label = '', value = '']) => [label, value])) };
  });
}

/** Something of everything that is counted by a label. */
async function busyServer(): Promise<string> {
  const board = await startBoard({ webhookPollMs: 50 });
  // Nobody listens there.
  await board.admin.projects.createWebhook({ url: 'http://127.0.0.1:1/' });
  const { id: taskId } = await board.task();
  await board.agent.tasks.addNote({ taskId, text: 'without a lease', executionId: 'ada-run' });
  await hold(board.agent, taskId, 1);
  await board.rival.leases.acquireLease({ taskId, executionId: 'rob-run' });
  const { url } = board.service;
  const told = async () => (await scrape(url)).map(({ name }) => name);
  await expect.poll(told, { timeout: 20_000 }).toContain('holdfast_webhook_attempts_total');
  return url;
}

const metricOf = (expr: string): string => /\b(?:holdfast|nodejs|process)_\w+/.exec(expr)?.[0] ?? expr;
const words = (text = '') => text.split(',').flatMap((word) => word.trim() || []);

/** The labels that an expression groups by; undefined: it does not, and has all there are. */
const groupedBy = (expr: string) => {
  if (!/\b(?:sum|max|min|avg|count)\b/.test(expr)) return undefined;
  return [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => words(labels));
};

test('every panel shows series that a busy server has, by labels that they have', async () => {
  const series = await scrape(await busyServer());
  for (const { title, expr, legendFormat } of targets) {
    const own = series.filter(({ name }) => name === metricOf(expr));
    expect(own, `${title}: ${expr}`).not.toEqual([]);
    // Prometheus adds these.
    const known = new Set(['instance', 'job', ...own.flatMap(({ labels }) => [...labels.keys()])]);
    const grouped = groupedBy(expr);
    const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, matchers]) =>
      words(matchers).map((matcher) => matcher.split(/[=!~]/, 1)[0] ?? ''),
    );
    const shown = [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label);
    for (const label of [...(grouped ?? []), ...matched, ...shown]) {
      expect([...known], `${title}: ${expr} as ${legendFormat}`).toContain(label);
    }
    // A legend that names what was summed up shows nothing.
    for (const label of shown) expect(grouped ?? shown, `${title}: ${legendFormat}`).toContain(label);
  }
});

test('a quantile is made of buckets and keeps their bound', () => {
  const quantiles = targets.filter(({ expr }) => expr.includes('histogram_quantile'));
  expect(quantiles.length).toBeGreaterThan(0);
  for (const { expr } of quantiles) {
    expect(expr).toMatch(/_bucket\[/);
    expect(groupedBy(expr), expr).toContain('le');
  }
});

test('the dashboard has what Grafana needs', () => {
  expect(dashboard).toMatchObject({ title: 'Holdfast', uid: 'holdfast', time: { from: expect.any(String) } });
  expect(dashboard.schemaVersion).toBeGreaterThan(30);
  expect(dashboard.templating.list).toEqual([
    expect.objectContaining({ name: 'datasource', type: 'datasource', query: 'prometheus' }),
  ]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const panel of panels) {
    expect(panel).toMatchObject({
      type: 'timeseries',
      title: expect.any(String),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it.
      datasource: { type: 'prometheus', uid: '${datasource}' },
    });
    expect(panel.targets.length, panel.title).toBeGreaterThan(0);
    expect(new Set(panel.targets.map(({ refId }) => refId)).size, panel.title).toBe(panel.targets.length);
    for (const { expr } of panel.targets) {
      const depths = [...expr].map((c) => (c === '(' ? 1 : c === ')' ? -1 : 0) as number);
      expect(
        depths.reduce((sum, depth) => sum + depth, 0),
        expr,
      ).toBe(0);
    }
  }
});

test('its panels lie within the 24 columns, and none on another', () => {
  const cells = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    const { x, y, w, h } = gridPos;
    expect([x >= 0 && y >= 0 && w > 0 && h > 0, x + w <= 24], title).toEqual([true, true]);
    for (let cell = 0; cell < w * h; cell++) {
      const place = `${x + (cell % w)} ${y + Math.floor(cell / w)}`;
      expect(cells.get(place), `${title} at ${place}`).toBeUndefined();
      cells.set(place, title);
    }
  }
});
