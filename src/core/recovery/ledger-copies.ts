/**
 * Copies of the ledger at the installation's backup targets, for the day the host is gone.
 *
 *    <target>/obligations/<installation id>/<first 16 digits of its first mac>.jsonl
 *
 * A daemon looks once a second whether the ledger has grown, and puts all of it. Behind the
 * act, not ahead of it: a target that is away must not keep anybody from revoking a token;
 * what is on the local disk ahead of the act is. A copy that fails is made at the next look.
 * docs/decisions/0041.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { withStore } from '../backup/open-store.ts'
import { ownTarget } from '../backup/target.ts'
import type { Installation } from '../installation.ts'
import { installationScope } from '../sealing.ts'

export interface Copies {
  /** Copies what is new, and ends. */
  close(): Promise<void>
}

const system = { kind: 'SYSTEM', job: 'ledger_copies' } as const
const lookMs = 1_000

/** Keeps copies from now on; each new kind of failure is told once. */
export function keepLedgerCopies(installation: Installation, onError: (error: unknown) => void): Copies {
  let copiedBytes = 0
  let lastSaid = ''
  const look = async () => {
    try {
      const size = await sizeOf(installation.ledger.file)
      if (size === copiedBytes) return
      await copyLedger(installation)
      copiedBytes = size
      lastSaid = ''
    } catch (error) {
      const said = String((error as { reason?: unknown }).reason ?? (error as Error).name)
      if (said !== lastSaid) onError(error)
      lastSaid = said
    }
  }
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, lookMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await looking
      await look()
    },
  }
}

/** Puts the whole ledger at every target of the installation; answers how many have it. Throws StoreFailure. */
export async function copyLedger(installation: Installation): Promise<number> {
  const { file } = installation.ledger
  const mac = await firstMac(file)
  if (mac === undefined) return 0
  const targets = await installation.transaction(
    system,
    { readOnly: true },
    ({ tx }) => tx<{ id: string }[]>`select id from backup_target where tenant_id = ${installationScope} order by id`,
  )
  const path = `obligations/${installation.identity.id}/${mac.slice(0, 16)}.jsonl`
  for (const { id } of targets)
    await withStore(installation, await ownTarget(installation, system, id), (store) => store.put(path, file))
  return targets.length
}

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )

async function firstMac(file: string): Promise<string | undefined> {
  if ((await sizeOf(file)) === 0) return undefined
  const lines = createInterface({ input: createReadStream(file) })
  for await (const line of lines) {
    lines.close()
    return /"mac":"([0-9a-f]{64})"\}$/.exec(line)?.[1]
  }
  return undefined
}
