import { createMetrics } from '../../src/metrics.js';

/** The lines of an exposition that say what there is. */
const TOLD = /^# (HELP|TYPE) (holdfast_\w+) (.*)$/gm;

/** A metric of the server's own. */
export interface ToldMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** Every metric of the server's own, as `GET /metrics` tells it. */
export async function ownMetrics(): Promise<ToldMetric[]> {
  const none = async () => 0;
  const nothing = async () => ({});
  const metrics = createMetrics({
    sequencerLag: none,
    outboxDepth: none,
    liveLeases: none,
    tasks: nothing,
    connections: nothing,
    databaseSeconds: none,
  });
  const { body } = await metrics.render();
  const told = [...body.matchAll(TOLD)].map(([, what, name = '', text = '']) => ({ what, name, text }));
  return told
    .filter(({ what }) => what === 'TYPE')
    .map(({ name, text: type }) => ({
      name,
      type,
      help: told.find((other) => other.what === 'HELP' && other.name === name)?.text ?? '',
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The server's metrics as a Markdown table. */
export async function metricsTable(): Promise<string> {
  const rows = (await ownMetrics()).map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |\n`);
  return ['| metric | type | what it tells |\n', '| --- | --- | --- |\n', ...rows].join('');
}
