import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/cluster.ts'],
    pool: 'forks',
    // Of two processors: a file waits for daemons and queues as much as it works.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
    reporters: ['default'],
  },
})
