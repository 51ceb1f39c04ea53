/** How long people wait for a command, against a bare oclif command on the same machine. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeBareCommand } from './bare-command.ts'
import type { Ground } from './ground.ts'
import { commandMs, startServer } from './processes.ts'
import { compare } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const rounds = 15
const root = join(import.meta.dirname, '..')

export async function commandStart(ground: Ground): Promise<Line[]> {
  const bare = await makeBareCommand()
  const daemon = await startServer([join(root, 'bin/svc'), 'daemon'], ground.environment)
  // An empty home without profiles: the command knows the API only from its environment.
  const env = { HOME: bare, XDG_CONFIG_HOME: bare, SVC_API_URL: daemon.address, SVC_TOKEN: ground.token }
  const ours = (...args: string[]) => commandMs([join(root, 'bin/svc'), ...args], env)
  const theirs = (...args: string[]) => commandMs([process.execPath, join(bare, 'run.js'), ...args], env)
  try {
    const version = await compare(
      () => ours('--version'),
      () => theirs('--version'),
      rounds,
    )
    const list = await compare(
      () => ours('tenants', 'list'),
      () => theirs('hello'),
      rounds,
    )
    return [
      ratioLine('svc --version, against bare oclif', { ...version, unit: 'ms' }, 'at most', 1.2),
      ratioLine('svc tenants list over the API, against a bare command', { ...list, unit: 'ms' }, 'at most', 1.6),
    ]
  } finally {
    await daemon.stop()
    await rm(bare, { recursive: true, force: true })
  }
}
