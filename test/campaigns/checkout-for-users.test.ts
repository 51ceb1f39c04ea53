/**
 * What somebody gets who tries svc from a checkout: the first command of README.md, word for word, without the developers'
 * packages, by an ordinary user; and how much that installs. npm takes the packages from its cache.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { giveAway, ordinaryUser, temporaryFolder, wipe } from '../kit/embedded-processes.ts'
import { withoutNetwork } from '../kit/packed.ts'

/** What the build and the commands read; a clone has more, which nothing of this needs. */
const parts = ['package.json', 'package-lock.json', '.npmrc', 'bin', 'scripts', 'src', 'migrations', 'README.md']
const [, install = '', first = ''] =
  /^```sh\n(npm ci --omit=dev) && (npx svc .+)\n```$/m.exec(readFileSync('README.md', 'utf8')) ?? []

/** More than this is a new package that users pay for: docs/decisions/0374 and 0515 say what is there and why. */
const most = { packages: 260, megabytes: 283 }

let folder: string
let checkout: string
let isThere = false
beforeAll(async () => {
  folder = await temporaryFolder()
  checkout = join(folder, 'svc')
  for (const place of [checkout, join(folder, 'home')]) mkdirSync(place)
  for (const part of parts) cpSync(part, join(checkout, part), { recursive: true })
  isThere = withoutNetwork(install, checkout) !== undefined
  await giveAway(checkout)
  await giveAway(join(folder, 'home'))
}, 400_000)
afterAll(() => wipe(folder, join(checkout, '.svc')))

const node = () => join(checkout, 'node_modules/.bin/node')

/** Folders with a package.json, as npm counts packages: `a`, `@scope/b`, and those within others. */
function packagesIn(modules: string): string[] {
  if (!existsSync(modules)) return []
  return readdirSync(modules).flatMap((name) => {
    const place = join(modules, name)
    if (name.startsWith('.')) return []
    if (name.startsWith('@')) return packagesIn(place)
    return [...(existsSync(join(place, 'package.json')) ? [place] : []), ...packagesIn(join(place, 'node_modules'))]
  })
}

/** The size on disk, each file once: npm links some of them. */
function bytesOf(place: string, seen = new Set<number>()): number {
  const file = lstatSync(place)
  if (file.isDirectory()) return readdirSync(place).reduce((sum, name) => sum + bytesOf(join(place, name), seen), 0)
  if (seen.has(file.ino)) return 0
  seen.add(file.ino)
  return file.size
}

test('README names the installation and the first command in one line', () => {
  expect(first).toMatch(/^npx svc tenants provision /)
})

test('no developers’ package is there, and no more packages than are known', ({ skip }) => {
  if (!isThere) skip()
  const modules = join(checkout, 'node_modules')
  const packages = packagesIn(modules)
  for (const name of ['vitest', 'typescript', 'rolldown', '@biomejs/biome', 'knip', 'fast-check'])
    expect(packages).not.toContain(join(modules, name))
  const megabytes = Math.round(bytesOf(modules) / 1e6)
  console.log(`installed for a user: ${packages.length} packages, ${megabytes} MB`)
  expect(packages.length).toBeLessThanOrEqual(most.packages)
  expect(megabytes).toBeLessThanOrEqual(most.megabytes)
})

test('the first command makes an installation and a workspace, and the next one sees it', ({ skip }) => {
  if (!isThere) skip()
  const run = (line: string) =>
    spawnSync('sh', ['-ec', line], {
      cwd: checkout,
      env: { PATH: process.env['PATH'], HOME: join(folder, 'home'), TZ: 'UTC', npm_config_offline: 'true' },
      encoding: 'utf8',
      ...ordinaryUser,
    })
  const made = run(first)
  expect(made.stderr).toContain('Created a keyring in ')
  expect(made).toMatchObject({ status: 0, stdout: expect.stringMatching(/^workspace +acme$/m) })
  expect(run('npx svc tenants list --fields slug -o csv').stdout).toContain('acme')
  expect(run('npx svc --version').stdout).toContain(
    spawnSync(node(), ['--version'], { encoding: 'utf8' }).stdout.trim(),
  )
}, 240_000)
