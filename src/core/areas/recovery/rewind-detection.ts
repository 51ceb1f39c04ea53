/**
 * Rewind detection: outside the database, each daemon records what it has acknowledged.
 *
 *    <data folder>/witness/<daemon id>.json     {"installation_id","epoch","epoch_number","beat"}
 *    daemon_witness (id, beat)                  the same number inside
 *
 * While there are writes, each daemon increases its number once a second: first in the
 * database and, after that commit, in the file. If the database has a smaller number than the
 * file, it was rewound to a point before a write that the daemon had acknowledged. A failover
 * without loss keeps the number. Timelines and positions in the log are not compared, because
 * after a rewind they pass the old ones within minutes.
 *
 * The ledger is the second witness: if the database lacks an obligation whose commit was
 * acknowledged, that proves a rewind, even one of less than a second.
 *
 * Not detected: a rewind by less than a second that undid no obligation; a restore of the
 * whole machine, which takes the data folder back together with the database.
 * Ours: Rewind detection; docs/decisions/0042.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../../kernel/config/config.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { newId } from '../../kernel/values/id.ts'
import { writeWhole } from '../../kernel/values/write-whole.ts'
import { closeGate, lookAtGate } from './gate.ts'
import { settleUnknown } from './in-doubt.ts'
import { planReconciliation, readLedgers } from './reconcile.ts'

const Witness = z.object({
  installation_id: z.string(),
  epoch: z.string(),
  epoch_number: z.int(),
  beat: z.int(),
})
type Witness = z.output<typeof Witness>

/** The evidence that the database was rewound. */
export interface Rewind {
  readonly found_by: 'epoch' | 'witness' | 'ledger'
  readonly params: Readonly<Record<string, string | number>>
}

export interface Watch {
  /** Writes one more heartbeat, so that the last write is witnessed, and stops. */
  close(): Promise<void>
}

const system = { kind: 'SYSTEM', job: 'witness' } as const
const heartbeatMs = 1_000

const folderOf = ({ dataDir }: Config) => join(dataDir, 'witness')

/**
 * Checks whether the database is behind what the daemons of this host have acknowledged. If
 * so, closes the gate. If not, removes their files; a running daemon writes its file again.
 * Answers the rewind, unless the gate was closed before.
 */
export async function detectRewind(installation: Installation): Promise<Rewind | undefined> {
  const { gated_at } = await lookAtGate(installation)
  const files = await readWitnesses(installation.config)
  const rewind = (await rewindByWitnesses(installation, files)) ?? (await rewindByLedger(installation))
  if (rewind) {
    await installation.transaction(system, {}, (ctx) =>
      closeGate(ctx, 'REWOUND', { params: { found_by: rewind.found_by, ...rewind.params } }),
    )
    return gated_at === null ? rewind : undefined
  }
  await settleUnknown(installation)
  for (const file of files) await forget(installation, file)
  return undefined
}

/**
 * Removes a witness that is no longer needed. If its daemon is running and has increased the number since, the row
 * stays, because the file with the new number is about to be written.
 */
async function forget(installation: Installation, { id, path, said }: WitnessFile): Promise<void> {
  await rm(path, { force: true })
  await installation.transaction(
    system,
    {},
    ({ tx }) => tx`delete from daemon_witness where id = ${id} and beat = ${said.beat}`,
  )
}

interface WitnessFile {
  readonly id: string
  readonly path: string
  readonly said: Witness
}

async function readWitnesses(config: Config): Promise<WitnessFile[]> {
  const folder = folderOf(config)
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => /^[0-9a-f-]{36}\.json$/.test(name))
  const read = files.map(async (name) => {
    const path = join(folder, name)
    const said = await readWitness(path)
    return said ? [{ id: name.slice(0, -'.json'.length), path, said }] : []
  })
  return (await Promise.all(read)).flat()
}

/** Undefined for a file that another daemon removes at this moment, and for one that a full disk left empty. */
async function readWitness(path: string): Promise<Witness | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    return Witness.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

async function rewindByWitnesses(
  installation: Installation,
  files: readonly WitnessFile[],
): Promise<Rewind | undefined> {
  const { epoch, epoch_number } = await lookAtGate(installation)
  for (const { id, path, said } of files) {
    if (said.installation_id !== installation.identity.id) continue // another database was here
    if (said.epoch_number < epoch_number) continue // a recovery has ended since: older witnesses do not count
    if (said.epoch !== epoch)
      return { found_by: 'epoch', params: { acknowledged: said.epoch_number, found: epoch_number } }
    const found = await beatOf(installation, id)
    if (found < said.beat && (await isStillSaid(installation, { id, path, said })))
      return { found_by: 'witness', params: { daemon_id: id, acknowledged: said.beat, found } }
  }
  return undefined
}

async function beatOf(installation: Installation, id: string): Promise<number> {
  const [row] = await installation.transaction(
    system,
    { readOnly: true },
    ({ tx }) => tx<{ beat: number | bigint }[]>`select beat from daemon_witness where id = ${id}`,
  )
  return Number(row?.beat ?? 0)
}

/**
 * Another daemon that starts at the same moment may have removed the file, and then the row (`forget`), since the file was
 * read; and its daemon may have written both anew. The number is evidence if the file is still there with one that the
 * database lacks.
 */
async function isStillSaid(installation: Installation, { id, path, said }: WitnessFile): Promise<boolean> {
  const again = await readWitness(path)
  if (!again) return false
  return again.beat === said.beat || (await beatOf(installation, id)) < again.beat
}

/** An obligation of this host whose commit was acknowledged, and that the database lacks. */
async function rewindByLedger(installation: Installation): Promise<Rewind | undefined> {
  // Steps that an earlier recovery left undone were accepted then.
  const { admitted_at } = await lookAtGate(installation)
  const { desired } = await readLedgers(installation, { since: admitted_at })
  const steps = await planReconciliation(installation, desired)
  // A purge that a hold stops is no evidence: an earlier recovery has repeated it.
  const lacking = steps.filter(
    ({ is_uncertain, what, hindered_by }) => !is_uncertain && !(what === 'purge.repeat' && hindered_by === 'held'),
  )
  return lacking.length === 0 ? undefined : { found_by: 'ledger', params: { obligations: lacking.length } }
}

/** Starts the heartbeats, which witness the writes of this process. */
export async function recordHeartbeats(installation: Installation, onError: (error: unknown) => void): Promise<Watch> {
  const id = newId()
  const path = join(folderOf(installation.config), `${id}.json`)
  let beat = 0
  let witnessed = -1

  const heartbeat = async () => {
    const { writes } = installation
    if (writes.count === witnessed && (await isThere(path))) return
    const count = writes.count
    const state = await installation.transaction(system, {}, async ({ tx }) => {
      await tx`
        insert into daemon_witness (id, beat) values (${id}, ${beat + 1})
        on conflict (id) do update set beat = excluded.beat, beat_at = now()`
      const [row] = await tx<{ epoch: string; epoch_number: number }[]>`select epoch, epoch_number from installation`
      return row
    })
    beat += 1
    // The heartbeat is a write itself; it must not cause the next heartbeat.
    witnessed = writes.count === count + 1 ? writes.count : count
    if (state) await replace(path, { installation_id: installation.identity.id, ...state, beat })
  }

  let running = heartbeat()
  await running
  const timer = setInterval(() => {
    running = running.then(heartbeat).catch(onError)
  }, heartbeatMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await running
      await heartbeat().catch(onError)
    },
  }
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

const replace = (path: string, said: Witness) => writeWhole(path, `${JSON.stringify(said)}\n`)
