import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

// Those of docs/clients.md are run, by the tests of each client.
test.each(['ts', 'python', 'go'])('README has the %s program of docs/clients.md', (language) => {
  const [program] = new RegExp(`\`\`\`${language}\n.*?\n\`\`\``, 's').exec(read('docs/clients.md')) ?? [];
  expect(program).toMatch(/localhost:7420/);
  expect(read('README.md')).toContain(program);
});
