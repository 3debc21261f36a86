import { randomInt } from 'node:crypto'
import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'
import { measureSlowness, patient } from './tests/support/patience.ts'
import { processorTime } from './tests/support/processor-time.ts'
import { size } from './tests/support/seed.ts'

const { resolve } = createRequire(import.meta.url)

// The processes that run the tests inherit them.
process.env.FEEDLINE_SLOWNESS ??= measureSlowness().toFixed(1)
process.env.FEEDLINE_SEED ||= String(randomInt(1_000_000))

const databaseTests = ['tests/integration', 'tests/laws', 'tests/e2e', 'tests/attacks']
/** What takes long, for `npm run test:all` alone. */
const long = 'tests/**/*.all.test.ts'
/**
 * What measures time, of `npm run test:all` too: one file after the other, once all others have
 * ended.
 */
const measuring = ['tests/laws/l5-sign-in.all.test.ts', 'tests/e2e/benchmarks.all.test.ts']
const propertyRuns = 'tests/support/property-runs.ts'
/** For tests with a database. */
const withDatabase = {
  globalSetup: 'tests/support/global-setup.ts',
  setupFiles: ['tests/support/each-file.ts'],
}

export default defineConfig({
  resolve: {
    // Two copies of graphql, ES module and CommonJS, refuse each other's types.
    alias: [{ find: /^graphql$/, replacement: resolve('graphql/index.js') }],
  },
  test: {
    pool: 'forks',
    // Tests wait for time and for processes, so two cores serve four files. At night, tests try
    // more and wait less.
    maxWorkers: size === 'night' ? 3 : 4,
    // Loading the server for each file would take a quarter of the time.
    isolate: false,
    restoreMocks: true,
    // Decorators run when a module is loaded, whichever of them a test imports first.
    setupFiles: ['reflect-metadata', propertyRuns],
    // At night, tests try all their cases.
    testTimeout: patient(size === 'night' ? 300_000 : 180_000),
    hookTimeout: patient(180_000),
    expect: { poll: { timeout: patient(60_000) } },
    reporters: ['default', 'json', processorTime()],
    outputFile: { json: 'test-results/vitest.json' },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['tests/unit/**/*.test.ts'], exclude: [long] },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: databaseTests.map((folder) => `${folder}/**/*.test.ts`),
          exclude: [long],
          ...withDatabase,
        },
      },
      {
        extends: true,
        test: { name: 'all', include: [long], exclude: measuring, ...withDatabase },
      },
      {
        extends: true,
        test: {
          name: 'measuring',
          include: measuring,
          ...withDatabase,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // The examples in Chromium, one after the other, because a page that waits for its turn is
        // slow.
        extends: true,
        test: {
          name: 'clients',
          include: ['tests/clients/**/*.test.ts'],
          ...withDatabase,
          testTimeout: patient(120_000),
          fileParallelism: false,
          // A browser on a busy machine may miss a moment that a test waits for.
          retry: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // Files with tables of their own, which other files must not load.
        extends: true,
        test: {
          name: 'trials',
          include: ['tests/trials/**/*.test.ts'],
          ...withDatabase,
          isolate: true,
        },
      },
      {
        // What the other tests have sent, so after them.
        extends: true,
        test: {
          name: 'explained',
          include: ['tests/explained/**/*.test.ts'],
          globalSetup: 'tests/support/global-setup.ts',
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
