import { defineConfig } from 'vitest/config'
import { Tally } from './test/kit/tally.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/cluster.ts'],
    pool: 'forks',
    // Of two processors: a file waits for daemons and queues as much as it works. Through a pooler each database has fewer
    // connections, and fifty calls at once wait for them longer than a call may where four files share the processors.
    maxWorkers: process.env['SVC_TEST_PGBOUNCER'] === undefined ? 4 : 2,
    // Modules are loaded once a worker, not once a file: no test replaces any (docs/decisions/0163).
    isolate: false,
    // Against what hangs: a test is no measure of time, and other work may take most of the machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    disableConsoleIntercept: true,
    setupFiles: ['test/kit/tally-setup.ts'],
    reporters: ['default', new Tally()],
  },
})
