/**
 * The entry of the command line: oclif finds the command, this file reports how it ended.
 *
 * Every error becomes one clear line on stderr and an exit code (report.ts). A stack trace
 * is shown only with SVC_LOG_LEVEL=trace or DEBUG.
 *
 * Two cases run without oclif: `--version` (30 ms instead of 100), and the daemon as service
 * managers start it, which starts faster and needs about 25 MB less memory.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DaemonRole } from '../daemon/daemon.ts'

const packageFile = new URL('../../package.json', import.meta.url)

/** Resolves when the command is over; a daemon goes on. */
export async function main(): Promise<void> {
  const argv = process.argv.slice(2)
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) {
    const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
    process.stdout.write(`svc/${version} ${process.platform}-${process.arch} node-${process.version}\n`)
    return
  }
  const role = daemonRole(argv)
  if (!role) return runCommand(argv)
  const { runDaemon } = await import('../daemon/main.ts')
  await runDaemon({ role })
}

/** The role of `svc daemon [--role ROLE]`; undefined for every other command line, which oclif reads. */
function daemonRole([command, ...rest]: readonly string[]): DaemonRole | undefined {
  if (command !== 'daemon') return undefined
  const [, named] = /^--role[= ](.*)$/.exec(rest.join(' ')) ?? []
  if (rest.length === 0) return 'all'
  return named === 'api' || named === 'worker' || named === 'all' ? named : undefined
}

async function runCommand(argv: readonly string[]): Promise<void> {
  try {
    const [{ run }, { typedName }] = await Promise.all([import('@oclif/core/run'), import('./typed-name.ts')])
    const name = typedName(process.env)
    await run([...argv], name === 'svc' ? import.meta.url : named(name))
  } catch (error) {
    const { report } = await import('./report.ts')
    process.exitCode = report(error, wantsJson(argv))
  }
}

/** oclif's options for help that names the program as the reader typed it. */
function named(name: string) {
  const pjson = JSON.parse(readFileSync(packageFile, 'utf8'))
  pjson.oclif.bin = name
  return { root: dirname(fileURLToPath(packageFile)), pjson }
}

/** Whether --json was given; words after `--` are not flags. */
const wantsJson = (argv: readonly string[]) => {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? undefined : end).includes('--json')
}
