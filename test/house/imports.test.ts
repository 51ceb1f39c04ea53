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
/** The floors of the source, lowest first; on one line: neither may import the other. Spec of the house: docs/architecture.md. */
const floors = [['contract'], ['kernel'], ['areas'], ['app'], ['drill', 'snapshot', 'daemon'], ['cli']] as const

/** The folders of the kernel, lowest first. */
const kernelFolders: readonly string[] = [
  ...['values', 'tracing', 'database', 'egress', 'config', 'sealing', 'ledger'],
  ...['outbox', 'queue', 'transaction', 'request'],
]

/** The room of a file on the table: `contract`, `kernel`, `areas`, `app`, `drill`, `snapshot`, `daemon`, `cli`; undefined for a package. */
const roomOf = (path: string) => path.match(/^src\/(?:core\/)?([a-z-]+)(?=\/)/)?.[1]
const floorOf = (path: string) => floors.findIndex((rooms) => rooms.some((room) => room === roomOf(path)))
/** The kernel's folder, or the area: what must not be in a circle with its neighbours. */
const folderOf = (path: string) => path.match(/^src\/core\/(?:kernel|areas)\/([a-z-]+)\//)?.[1]

const isOwn = (path: string) => path.startsWith('src/')
const isContract = (path: string) => roomOf(path) === 'contract'

/** What brings a way out of the process; node's own without its prefix. */
const opensSockets = new Set([
  ...['net', 'tls', 'dgram', 'http', 'https', 'http2', 'dns', 'dns/promises', 'inspector', 'worker_threads'],
  ...['undici', 'ssh2', 'ssh2-sftp-client', 'ws', 'axios', 'got', 'node-fetch', 'nodemailer', 'openid-client'],
])
const mayOpenSockets = [
  'src/core/kernel/egress/',
  'src/core/kernel/database/', // PostgreSQL, at the operator's own address
  'src/core/areas/mail/transport.ts', // the operator's own relay, which may be private
  'src/daemon/', // listens
  'src/cli/call/http.ts', // calls the API that the operator names
  'src/cli/first-run/first-run.ts', // looks for a free port
  'src/cli/doctor/server.ts', // asks whether the configured port is free
]

const kernelOrder = (folder: string | undefined) => kernelFolders.indexOf(folder ?? '')

const rules: readonly Rule[] = [
  {
    name: 'every file stands on the table',
    why: 'a file beside the tree is a heap that begins; give it a place',
    breaks: ({ from, to }) => [from, to].some((path) => isOwn(path) && floorOf(path) < 0),
    offence: on('src/core/app/perform.ts', 'src/core/perform.ts'),
  },
  {
    name: 'no import runs up',
    why: 'contract, kernel, areas, app, then drill, snapshot and daemon, then cli: what is below knows nothing of what stands on it',
    breaks: ({ from, to }) => isOwn(to) && floorOf(to) > floorOf(from),
    offence: on('src/core/kernel/transaction/installation.ts', 'src/core/areas/recovery/gate.ts', { isTypeOnly: true }),
  },
  {
    name: 'rooms on one floor do not know each other',
    why: 'the drill runs without the daemon, the daemon without the drill',
    breaks: ({ from, to }) => isOwn(to) && floorOf(to) === floorOf(from) && roomOf(to) !== roomOf(from),
    offence: on('src/daemon/main.ts', 'src/core/drill/drill.ts'),
  },
  {
    name: 'a folder of the kernel knows those below it',
    why: 'values, tracing, database, egress, config, sealing, ledger, outbox, queue, transaction, request: an order, no net',
    breaks: ({ from, to }) =>
      roomOf(from) === 'kernel' && roomOf(to) === 'kernel' && kernelOrder(folderOf(to)) > kernelOrder(folderOf(from)),
    offence: on('src/core/kernel/queue/job.ts', 'src/core/kernel/transaction/installation.ts', { isTypeOnly: true }),
  },
  {
    name: 'a contract is data',
    why: 'a command in API mode loads it without the database, and the OpenAPI document without a working rule',
    breaks: ({ from, to }) => isContract(from) && !isContract(to) && to !== 'zod',
    offence: on('src/core/contract/tenants/operations.ts', 'src/core/kernel/transaction/context.ts', {
      isTypeOnly: true,
    }),
  },
  {
    name: 'only src/core/kernel/database speaks to PostgreSQL',
    why: 'a statement outside a guarded transaction sees no workspace, or another one',
    breaks: ({ from, to, isTypeOnly }) =>
      !isTypeOnly &&
      ['postgres', 'pg', 'tarn', 'node-pg-migrate'].includes(to) &&
      !from.startsWith('src/core/kernel/database/'),
    offence: on('src/core/areas/tenants/list.ts', 'postgres'),
  },
  {
    name: 'only the queue and the migrations know pg-boss',
    why: 'a job is queued through the context, in the transaction that needs it',
    breaks: ({ from, to, isTypeOnly }) =>
      !isTypeOnly &&
      to === 'pg-boss' &&
      !['src/core/kernel/queue/queue.ts', 'src/core/kernel/database/migrate.ts'].includes(from),
    offence: on('src/core/areas/auth/invitation.ts', 'pg-boss'),
  },
  {
    name: 'the command line loads what is slow when it needs it',
    why: 'svc --version must not pay for prompts, spinners, tables, the daemon and the driver',
    breaks: ({ from, to, isTypeOnly, isLazy }) =>
      from.startsWith('src/cli/') &&
      !isTypeOnly &&
      !isLazy &&
      (['inquirer', 'ora', 'cli-table3', 'string-width', 'fastify', 'postgres', 'pg-boss'].includes(to) ||
        to.startsWith('src/daemon/') ||
        to === 'src/core/app/perform.ts' ||
        to === 'src/core/app/handlers.ts'),
    offence: on('src/cli/commands/overview.ts', 'inquirer'),
  },
  {
    name: 'only src/core/kernel/egress opens a socket',
    why: 'a target that others name must pass the guard; the database drivers, a relay from the environment, the daemon that listens and the command line that calls it are the exceptions',
    breaks: ({ from, to, isTypeOnly }) =>
      !isTypeOnly &&
      opensSockets.has(to.replace(/^node:/, '')) &&
      !mayOpenSockets.some((place) => from.startsWith(place)),
    offence: on('src/core/areas/webhooks/deliveries.ts', 'undici'),
  },
  {
    name: 'the S3 client is made in one place',
    why: 'without our fetch it takes the global one, which no guard stands before',
    breaks: ({ from, to, isTypeOnly }) => !isTypeOnly && to === 's3mini' && from !== 'src/core/kernel/egress/s3.ts',
    offence: on('src/core/areas/backup/export-job.ts', 's3mini'),
  },
  {
    name: 'nothing of the project reaches outside it',
    why: 'it must stand alone, wherever it is cloned',
    breaks: ({ to }) => to.startsWith('..') || to.startsWith('/'),
    offence: on('src/core/kernel/config/config.ts', '../shared/contract/operations.json'),
  },
]

const imports = sourceFiles('src').flatMap(importsOf)

describe('imports', () => {
  test('are read at all', () => expect(imports.length).toBeGreaterThan(200))

  test('come from files that stand on the table, also from one that imports nothing', () => {
    const strays = (paths: readonly string[]) => paths.filter((path) => floorOf(path) < 0)
    expect(strays(['src/core/perform.ts', 'src/core/app/perform.ts'])).toEqual(['src/core/perform.ts'])
    expect(strays(sourceFiles('src').map(({ path }) => path))).toEqual([])
  })

  test.each(rules)('$name', ({ why, breaks, offence }) => {
    expect(breaks(offence), 'the rule does not catch its own example').toBe(true)
    const offenders = imports
      .filter((one) => breaks(one) && !isCommandRecovery(one))
      .map(({ from, to }) => `${from} imports ${to}`)
    expect(offenders, why).toEqual([])
  })
})

/** A way that ends where it began, or undefined. */
function circleIn(steps: readonly (readonly [from: string, to: string])[]): readonly string[] | undefined {
  const next = Map.groupBy(steps, ([from]) => from)
  const done = new Set<string>()
  const walk = (place: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(place)) return [...way.slice(way.indexOf(place)), place]
    if (done.has(place)) return undefined
    for (const [, to] of next.get(place) ?? []) {
      const circle = walk(to, [...way, place])
      if (circle) return circle
    }
    done.add(place)
    return undefined
  }
  for (const place of next.keys()) {
    const circle = walk(place, [])
    if (circle) return circle
  }
  return undefined
}

describe('circles', () => {
  const own = imports.filter(({ to }) => isOwn(to))
  /** The folders of one room, and who of them imports whom; what is not in that room is left out. */
  const between = (room: string) =>
    own
      .filter(({ from, to }) => roomOf(from) === room && roomOf(to) === room && folderOf(from) !== folderOf(to))
      .map(({ from, to }) => [folderOf(from) ?? from, folderOf(to) ?? to] as const)

  test('are found', () => {
    const straight = [
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'c'],
    ] as const
    expect(circleIn(straight)).toBeUndefined()
    expect(circleIn([...straight, ['c', 'a']])).toEqual(['a', 'b', 'c', 'a'])
  })

  test.each(['kernel', 'areas'])('are none between the folders of %s', (room) => {
    expect(between(room).length).toBeGreaterThan(10)
    expect(circleIn(between(room)), 'what two areas need of each other belongs below both').toBeUndefined()
  })

  test('are none between files', () => {
    expect(circleIn(own.filter(({ isLazy }) => !isLazy).map(({ from, to }) => [from, to]))).toBeUndefined()
  })
})

describe('what a command loads before it knows its way', () => {
  const atOnce = Map.groupBy(
    imports.filter(({ to, isLazy, isTypeOnly }) => isOwn(to) && !isLazy && !isTypeOnly),
    ({ from }) => from,
  )
  /** What the module brings along, itself included. */
  const closureOf = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
    if (seen.has(path)) return seen
    seen.add(path)
    for (const { to } of atOnce.get(path) ?? []) closureOf(to, seen)
    return seen
  }
  const isHeavy = (path: string) =>
    /^src\/(?:daemon|core\/(?:app|drill|kernel\/(?:database\/(?!address\.ts)|(?:queue|outbox|ledger|transaction)\/)))/.test(
      path,
    )
  const commands = sourceFiles('src/cli/commands').map(({ path }) => path)

  test('is neither the database nor the daemon', () => {
    expect([...closureOf('src/cli/call/recovery-caller.ts')].some(isHeavy), 'the rule finds nothing').toBe(true)
    const heavy = commands.flatMap((path) => [...closureOf(path)].filter(isHeavy).map((to) => `${path} loads ${to}`))
    expect(heavy, 'load it with await import(…), once it is needed').toEqual([])
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
      .filter(({ path, text }) => !path.startsWith('src/core/kernel/egress/') && unguarded.test(code(text)))
      .map(({ path }) => path)
    expect(offenders, 'what leaves the daemon passes src/core/kernel/egress').toEqual([])
  })
})

/** The one module of the command line that works on the database; commands load it on demand. */
const isCommandRecovery = ({ from, to }: Import) =>
  from === 'src/cli/call/recovery-caller.ts' && to.startsWith('src/core/')
