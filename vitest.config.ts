import { defineConfig } from 'vitest/config';

/** Where .ci/run wants the results for its summary. */
const report = process.env.HOLDFAST_TEST_REPORT;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    ...(report && { reporters: ['default', ['json', { outputFile: report }]] }),
  },
});
