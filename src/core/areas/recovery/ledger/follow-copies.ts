/**
 * The daemon's part in the copies: it completes the copies that no action waited for. Once a
 * second it checks whether the ledger has grown, and at every tenth check whether a target was
 * added. It brings every target the lines that it lacks, from whichever process. A copy that
 * fails is repeated at the next check.
 */
import { stat } from 'node:fs/promises'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { withTimeout } from '../../../kernel/values/deadline.ts'

export interface Following {
  /** Targets that lacked lines at the last check. */
  readonly behind: number
  /** Copies the new lines, and stops. */
  close(): Promise<void>
}

const lookMs = 1_000
const looksAnyway = 10
/** Less than the time for a daemon's drain. */
const closeMs = 3_000

/** Starts to follow. Reports the failures each time that they change. */
export function followWithCopies(
  installation: Installation,
  onFailure: (failures: Readonly<Record<string, string>>) => void,
): Following {
  let copiedBytes = -1
  let looks = 0
  let lastSaid = '{}'
  let behind = 0
  const look = async () => {
    looks += 1
    const size = await sizeOf(installation.ledger.file)
    if (size === copiedBytes && looks % looksAnyway !== 0) return
    const failures = await installation.copies
      .follow()
      .catch((): Readonly<Record<string, string>> => ({ database: 'unreachable' }))
    const said = JSON.stringify(failures)
    behind = Object.keys(failures).length
    if (said !== '{}') copiedBytes = -1
    else copiedBytes = size
    if (said !== lastSaid && said !== '{}') onFailure(failures)
    lastSaid = said
  }
  let looking: Promise<void> | undefined
  const lookUnlessLooking = () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
  const timer = setInterval(() => void lookUnlessLooking(), lookMs).unref()
  return {
    get behind() {
      return behind
    },
    async close() {
      clearInterval(timer)
      const last = (async () => {
        await looking
        await look()
      })()
      await withTimeout(closeMs, last).catch(() => {})
    },
  }
}

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )
