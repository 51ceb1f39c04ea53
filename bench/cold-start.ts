/** The time to a ready daemon, from an empty folder and from a migrated database; and the memory of an idle daemon. */
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { removeData, temporaryFolder } from './ground.ts'
import { startDaemon } from './processes.ts'
import { median } from './rounds.ts'
import { ceilingLine, type Line } from './table.ts'

const folders = 3
const restartsEach = 3
/** Long enough for the garbage of the start to be collected. */
const idleMs = 5_000

export async function coldStart(): Promise<Line[]> {
  const first: number[] = []
  const again: number[] = []
  const memory: number[] = []
  for (let folder = 0; folder < folders; folder += 1) {
    const dataDir = await temporaryFolder()
    const start = () => startDaemon({ SVC_DATA_DIR: dataDir, SVC_PORT: '0' })
    try {
      const fresh = await start()
      first.push(fresh.readyMs)
      await fresh.stop()
      for (let restart = 0; restart < restartsEach; restart += 1) {
        const daemon = await start()
        again.push(daemon.readyMs)
        if (restart === 0) memory.push(await idleMegabytes(daemon.pid))
        await daemon.stop()
      }
    } finally {
      await removeData(dataDir, undefined)
    }
  }
  return [
    ceilingLine('from an empty folder to ready', median(first), 'ms', 4_000),
    ceilingLine('from a migrated embedded database to ready', median(again), 'ms', 1_000),
    ceilingLine("an idle daemon's memory (resident)", median(memory), 'MB', 140),
  ]
}

async function idleMegabytes(pid: number): Promise<number> {
  await pause(idleMs)
  return residentMegabytes(pid)
}

/** As Linux counts it, in MB of 1024 KiB. */
export async function residentMegabytes(pid: number): Promise<number> {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
