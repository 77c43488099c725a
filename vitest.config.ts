import { defineConfig } from 'vitest/config';

/** Where .ci/run wants the results for its summary. */
const report = process.env.HOLDFAST_TEST_REPORT;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most files wait for processes and deadlines rather than for the processor.
    maxWorkers: 2,
    // Tests with real processes and deadlines meet stalls of a shared machine; a fault fails every time.
    retry: process.env.CI ? 2 : 0,
    ...(report && { reporters: ['default', ['json', { outputFile: report }]] }),
  },
});
