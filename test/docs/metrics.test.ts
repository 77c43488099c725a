import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startTestService } from '../support/service.js';
import { ROOT, readDocument } from './documents.js';
import { ownMetrics } from './metrics-table.js';

const inText = (text: string) =>
  new Set([...text.matchAll(/\b(?:holdfast|nodejs|process)_[a-z0-9_]+\b/g)].map(([name]) => name));

test('the dashboard and the pages name only metrics that a server tells, and the dashboard all of its own', async () => {
  const service = await startTestService();
  const body = await (await fetch(`${service.url}/metrics`)).text();
  const told = [...body.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const dashboard = inText(readFileSync(`${ROOT}docs/grafana.json`, 'utf8'));
  const named = [...dashboard, ...inText(readDocument('docs/operations.md').text)];
  expect(named.filter((name) => !told.includes(name))).toEqual([]);
  const shown = [...dashboard].map((name) => name.replace(/_bucket$/, ''));
  const own = (await ownMetrics()).map(({ name }) => name);
  expect(own.filter((name) => !told.includes(name))).toEqual([]);
  expect(own.filter((name) => !shown.includes(name))).toEqual([]);
});
