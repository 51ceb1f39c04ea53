/** The package as users get it: packed in a copy of the checkout, and installed by npm from its cache, without the network. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'

const checkout = join(import.meta.dirname, '../..')

/** What `npm pack` reads. Packing changes package.json for a moment, which other tests read. */
const parts = [
  ...['package.json', 'package-lock.json', 'oclif.manifest.json', 'README.md', 'LICENSE', 'CHANGELOG.md'],
  ...['bin', 'deploy', 'dist', 'migrations', 'scripts'],
]

/** Without the settings of the npm that started the tests. */
const plainEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

const npm = (cwd: string, args: readonly string[]) =>
  spawnSync('npm', args, { cwd, env: plainEnv(), encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })

export interface Packed {
  /** The copy that it was packed from. */
  readonly folder: string
  readonly file: string
}

export function pack(): Packed {
  // In the checkout's own file system, so that its packages are there as links.
  mkdirSync(join(checkout, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(checkout, '.tmp/packed-'))
  for (const part of parts)
    cpSync(join(checkout, part), join(folder, part), { recursive: true, preserveTimestamps: true })
  spawnSync('cp', ['-al', join(checkout, 'node_modules'), folder])
  const { status, stdout, stderr } = npm(folder, ['pack', '--json'])
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  const said = JSON.parse(stdout) as Record<string, { filename: string }> | { filename: string }[]
  const [{ filename } = { filename: '' }] = Object.values(said)
  return { folder, file: join(folder, filename.replace('@', '').replaceAll('/', '-')) }
}

/** A package that npm's cache was seen to lack. All that one file of tests installs needs it. */
let lacking: string | undefined

/**
 * Runs a command of npm that installs what is packed, without the network; undefined if npm's cache lacks a package, which it
 * says on stderr. Behind that it tries no more: npm takes a minute and a half to find out.
 */
export function withoutNetwork(command: string, cwd: string): string | undefined {
  if (lacking !== undefined) return undefined
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], {
    cwd,
    env: { ...plainEnv(), npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status === 0) return `${stdout}${stderr}`
  if (!/ENOTCACHED|cache mode is 'only-if-cached'/.test(stderr)) throw new Error(`${command}: ${stderr}`)
  lacking = /request to (\S+) failed/.exec(stderr)?.[1] ?? 'a package'
  process.stderr.write(
    `Skipped: npm's cache lacks ${lacking}. Installing the packed file once, with the network, fills it.\n`,
  )
  return undefined
}
