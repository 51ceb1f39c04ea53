/**
 * Exporting a workspace of 1,000,000 rows: the whole job, from the snapshot to the manifest at a
 * LOCAL target, against a bare `copy … to stdout` of the same columns of the same rows, without
 * row-level security. The same of a backup, whose files are encrypted. The output of the copy is dropped. Both run in one separate process
 * (export-process.ts), whose memory is measured from before the first export to its highest mark.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { engineEnvironment, engineFlags } from '../scripts/engine-flags.ts'
import type { ExportFigures, ExportSettings } from './export-process.ts'
import { fillWorkspace } from './filler.ts'
import type { Ground } from './ground.ts'
import { compare } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const rows = 1_000_000
const rounds = 5

export async function exporting(ground: Ground): Promise<Line[]> {
  await fillWorkspace(ground.superuser, ground, ['label', 'audit_entry', 'account', 'account'], rows / 4)
  const settings: ExportSettings = { tenantId: ground.tenantId, superuser: ground.superuser }
  const child = fork(join(import.meta.dirname, 'export-process.ts'), [JSON.stringify(settings)], {
    env: { ...engineEnvironment, ...process.env, ...ground.environment },
    execArgv: [...engineFlags],
  })
  const ask = (what: 'export' | 'backup' | 'copy'): Promise<ExportFigures> =>
    new Promise((resolve, reject) => {
      child.removeAllListeners().once('message', (figures) => resolve(figures as ExportFigures))
      child.once('exit', (code) => reject(new Error(`the exporting process ended with ${code}`)))
      child.send(what)
    })
  /** The lines of one kind of archive, which is written in turns with the copy. */
  const measured = async (what: 'export' | 'backup', doing: string, atLeast: number): Promise<Line[]> => {
    let grownBy = 0
    const compared = await compare(
      async () => {
        const { rowsPerSecond, megabytesGrown } = await ask(what)
        grownBy = Math.max(grownBy, megabytesGrown)
        return rowsPerSecond
      },
      async () => (await ask('copy')).rowsPerSecond,
      rounds,
    )
    return [
      ratioLine(`${doing} ${rows} rows, against copying them out`, { ...compared, unit: '/s' }, 'at least', atLeast),
      ceilingLine(`${doing} ${rows} rows ${rounds + 1} times: memory grown by`, grownBy, 'MB', 64),
    ]
  }
  try {
    return [...(await measured('export', 'exporting', 0.6)), ...(await measured('backup', 'backing up', 0.65))]
  } finally {
    if (child.connected) child.disconnect()
    if (child.exitCode === null) await once(child, 'exit')
  }
}
