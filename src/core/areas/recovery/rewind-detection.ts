/**
 * Rewind detection: what a daemon has acknowledged, remembered outside the database.
 *
 *    <data folder>/witness/<daemon id>.json     {"installation_id","epoch","epoch_number","beat"}
 *    daemon_witness (id, beat)                  the same number inside
 *
 * While there are writes, each daemon raises its number once a second: in the database
 * first, and once that is committed, in the file. A database that holds a smaller number
 * than the file was taken back behind something that a daemon has acknowledged. A failover
 * without loss has the number, whatever its timeline and positions in the log are; those
 * are not compared, because after a rewind they grow past the old ones within minutes.
 *
 * The ledger is the other witness: an obligation whose commit was acknowledged and that the
 * database lacks is proof without waiting for a second to pass.
 *
 * Not noticed: a rewind by less than a second that undid no obligation; a copy of the whole
 * machine that took the data folder back with the database. Ours: Rewind detection;
 * docs/decisions/0042.
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

/** Why the database is held to be rewound. */
export interface Rewind {
  readonly found_by: 'epoch' | 'witness' | 'ledger'
  readonly params: Readonly<Record<string, string | number>>
}

export interface Watch {
  /** Beats once more, so that the last write is witnessed, and ends. */
  close(): Promise<void>
}

const system = { kind: 'SYSTEM', job: 'witness' } as const
const heartbeatMs = 1_000

const folderOf = ({ dataDir }: Config) => join(dataDir, 'witness')

/**
 * Looks whether the database lies behind what daemons of this host have acknowledged, and
 * closes the gate if so. Where it does not, their files have served and are removed; a
 * daemon that lives writes its own again. Answers the reason of a rewind that was found now.
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
 * A witness that has served. Its daemon may live and beat meanwhile: then the number is another one than was read, and
 * stays, because the file with that number is about to be written.
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
    // A file that another daemon removes meanwhile has served; one that a full disk left empty says nothing.
    const said = Witness.safeParse(
      await readFile(path, 'utf8')
        .then(JSON.parse)
        .catch(() => undefined),
    )
    return said.success ? [{ id: name.slice(0, -'.json'.length), path, said: said.data }] : []
  })
  return (await Promise.all(read)).flat()
}

async function rewindByWitnesses(
  installation: Installation,
  files: readonly WitnessFile[],
): Promise<Rewind | undefined> {
  const { epoch, epoch_number } = await lookAtGate(installation)
  for (const { id, said } of files) {
    if (said.installation_id !== installation.identity.id) continue // another database was here
    if (said.epoch_number < epoch_number) continue // a recovery was ended since: nothing older counts
    if (said.epoch !== epoch)
      return { found_by: 'epoch', params: { acknowledged: said.epoch_number, found: epoch_number } }
    const [row] = await installation.transaction(
      system,
      { readOnly: true },
      ({ tx }) => tx<{ beat: number | bigint }[]>`select beat from daemon_witness where id = ${id}`,
    )
    const found = Number(row?.beat ?? 0)
    if (found < said.beat) return { found_by: 'witness', params: { daemon_id: id, acknowledged: said.beat, found } }
  }
  return undefined
}

/** An obligation of this host whose commit was acknowledged, and that the database lacks. */
async function rewindByLedger(installation: Installation): Promise<Rewind | undefined> {
  // What an earlier recovery had to leave was accepted then.
  const { admitted_at } = await lookAtGate(installation)
  const { desired } = await readLedgers(installation, { since: admitted_at })
  const steps = await planReconciliation(installation, desired)
  // A purge that a hold stops was repeated by an earlier recovery.
  const lacking = steps.filter(
    ({ is_uncertain, what, hindered_by }) => !is_uncertain && !(what === 'purge.repeat' && hindered_by === 'held'),
  )
  return lacking.length === 0 ? undefined : { found_by: 'ledger', params: { obligations: lacking.length } }
}

/** Witnesses the writes of this process from now on. */
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
    // The beat is a write itself; it must not ask for the next one.
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
