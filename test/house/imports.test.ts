/**
 * Who may import what, and why. Each rule is tried on an offending file first, so that a
 * rule that never bites is found.
 */
import { describe, expect, test } from 'vitest'
import { type Import, importsOf, sourceFiles } from './source.ts'

interface Rule {
  readonly name: string
  readonly why: string
  readonly breaks: (one: Import) => boolean
  /** An import that the rule must catch. */
  readonly offence: Import
}

const on = (from: string, to: string, more: Partial<Import> = {}): Import => ({
  from,
  to,
  isTypeOnly: false,
  isLazy: false,
  ...more,
})
const isContract = (path: string) => path.endsWith('/contract.ts')

/** What brings a way out of the process; node's own without its prefix. */
const opensSockets = new Set([
  ...['net', 'tls', 'dgram', 'http', 'https', 'http2', 'dns', 'dns/promises', 'inspector', 'worker_threads'],
  ...['undici', 'ssh2', 'ssh2-sftp-client', 'ws', 'axios', 'got', 'node-fetch', 'nodemailer', 'openid-client'],
])
const mayOpenSockets = [
  'src/core/egress/',
  'src/core/database/', // PostgreSQL, at the operator's own address
  'src/core/mail/transport.ts', // the operator's own relay, which may be private
  'src/daemon/', // listens
  'src/cli/http.ts', // calls the API that the operator names
  'src/cli/first-run.ts', // looks for a free port
  'src/cli/doctor/server.ts', // asks whether the configured port is free
]

const rules: readonly Rule[] = [
  {
    name: 'the core knows neither the daemon nor the command line',
    why: 'both stand on it; recovery mode runs it without the daemon',
    breaks: ({ from, to }) =>
      from.startsWith('src/core/') && (to.startsWith('src/daemon/') || to.startsWith('src/cli/')),
    offence: on('src/core/perform.ts', 'src/daemon/server.ts'),
  },
  {
    name: 'the daemon does not know the command line',
    why: 'the daemon serves whoever calls',
    breaks: ({ from, to }) => from.startsWith('src/daemon/') && to.startsWith('src/cli/'),
    offence: on('src/daemon/main.ts', 'src/cli/main.ts'),
  },
  {
    name: 'a contract is data',
    why: 'a command in API mode loads it without the database, and the OpenAPI document without a working rule',
    breaks: ({ from, to, isTypeOnly }) =>
      isContract(from) &&
      !isTypeOnly &&
      !isContract(to) &&
      !['zod', 'src/core/operation.ts', 'src/core/schema.ts', 'src/core/item-types.ts'].includes(to),
    offence: on('src/core/admin/tenants/contract.ts', 'src/core/context.ts'),
  },
  {
    name: 'only src/core/database speaks to PostgreSQL',
    why: 'a statement outside a guarded transaction sees no workspace, or another one',
    breaks: ({ from, to, isTypeOnly }) =>
      !isTypeOnly &&
      ['postgres', 'pg', 'tarn', 'node-pg-migrate'].includes(to) &&
      !from.startsWith('src/core/database/'),
    offence: on('src/core/admin/tenants/list.ts', 'postgres'),
  },
  {
    name: 'only the queue and the migrations know pg-boss',
    why: 'a job is queued through the context, in the transaction that needs it',
    breaks: ({ from, to, isTypeOnly }) =>
      !isTypeOnly && to === 'pg-boss' && !['src/core/queue.ts', 'src/core/database/migrate.ts'].includes(from),
    offence: on('src/core/auth/invitation.ts', 'pg-boss'),
  },
  {
    name: 'the command line loads what is slow when it needs it',
    why: 'svc --version must not pay for prompts, spinners, tables, the daemon and the driver',
    breaks: ({ from, to, isTypeOnly, isLazy }) =>
      from.startsWith('src/cli/') &&
      !isTypeOnly &&
      !isLazy &&
      (['inquirer', 'ora', 'cli-table3', 'fastify', 'postgres', 'pg-boss'].includes(to) ||
        to.startsWith('src/daemon/') ||
        to === 'src/core/perform.ts' ||
        to === 'src/core/handlers.ts'),
    offence: on('src/cli/commands/overview.ts', 'inquirer'),
  },
  {
    name: 'only src/core/egress opens a socket',
    why: 'a target that others name must pass the guard; the database drivers, a relay from the environment, the daemon that listens and the command line that calls it are the exceptions',
    breaks: ({ from, to, isTypeOnly }) =>
      !isTypeOnly &&
      opensSockets.has(to.replace(/^node:/, '')) &&
      !mayOpenSockets.some((place) => from.startsWith(place)),
    offence: on('src/core/webhooks/delivery.ts', 'undici'),
  },
  {
    name: 'the S3 client is made in one place',
    why: 'without our fetch it takes the global one, which no guard stands before',
    breaks: ({ from, to, isTypeOnly }) => !isTypeOnly && to === 's3mini' && from !== 'src/core/backup/stores/s3.ts',
    offence: on('src/core/backup/export.ts', 's3mini'),
  },
  {
    name: 'nothing of the project reaches outside it',
    why: 'it must stand alone, wherever it is cloned',
    breaks: ({ to }) => to.startsWith('..') || to.startsWith('/'),
    offence: on('src/core/config.ts', '../shared/contract/operations.json'),
  },
]

const imports = sourceFiles('src').flatMap(importsOf)

describe('imports', () => {
  test('are read at all', () => expect(imports.length).toBeGreaterThan(200))

  test.each(rules)('$name', ({ why, breaks, offence }) => {
    expect(breaks(offence), 'the rule does not catch its own example').toBe(true)
    const offenders = imports
      .filter((one) => breaks(one) && !isCommandRecovery(one))
      .map(({ from, to }) => `${from} imports ${to}`)
    expect(offenders, why).toEqual([])
  })
})

describe('ways out that need no import', () => {
  const unguarded =
    /(?<![.\w])(?:fetch|WebSocket|EventSource|XMLHttpRequest)\s*\(|globalThis\s*(?:\.|\[['"])(?:fetch|WebSocket|EventSource)/
  const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')

  test('are taken by nobody', () => {
    for (const offence of ['await fetch(url)', 'new WebSocket(url)', 'globalThis.fetch', "globalThis['fetch']"])
      expect(offence).toMatch(unguarded)
    for (const harmless of ['egress.fetch(url)', 'prefetch(url)']) expect(harmless).not.toMatch(unguarded)
    const offenders = sourceFiles('src')
      .filter(({ path, text }) => !path.startsWith('src/core/egress/') && unguarded.test(code(text)))
      .map(({ path }) => path)
    expect(offenders, 'what leaves the daemon passes src/core/egress').toEqual([])
  })
})

/** The one module of the command line that works on the database; commands load it on demand. */
const isCommandRecovery = ({ from, to }: Import) => from === 'src/cli/recovery-caller.ts' && to.startsWith('src/core/')
