import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runScenario } from './runner.js';
import { type Manifest, readJson, type ScenarioFile } from './scenario.js';
import { startVectorServer, type VectorServer } from './server.js';

const manifest = readJson<Manifest>('manifest.json');
const files = manifest.files.map(({ file, scenarios }) => ({
  file,
  count: scenarios,
  ...readJson<ScenarioFile>(file),
}));

let server: VectorServer;
beforeAll(async () => {
  server = await startVectorServer(inject('postgresUrl'));
});
afterAll(() => server.stop());

describe.each(files)('$subject', ({ scenarios }) => {
  it.each(scenarios)('$name', (scenario) => runScenario(scenario, server), 60_000);
});

describe('the manifest', () => {
  it('is of the version that this runner is written for', () => {
    expect(manifest.version).toBe(1);
  });

  it('counts the scenarios and names the verbs', () => {
    const all = files.flatMap(({ scenarios }) => scenarios);
    expect(files.filter(({ count, scenarios }) => count !== scenarios.length)).toEqual([]);
    expect(manifest.scenarios).toBe(all.length);
    const verbs = new Set(all.flatMap(({ steps }) => steps.map((step) => step.do)));
    expect(manifest.verbs).toEqual([...verbs].sort());
  });

  it('lists only files that fit the schema', () => {
    const validate = new Ajv2020({ strict: false }).compile(readJson('scenarios.schema.json'));
    for (const { file } of files) {
      expect(validate(readJson(file)), `${file}: ${JSON.stringify(validate.errors?.slice(-3))}`).toBe(true);
    }
  });
});
