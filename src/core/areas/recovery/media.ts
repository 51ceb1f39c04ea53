/**
 * Compares the rows of files with the store: after a recovery of the database, its rows may name files that the store has
 * lost, and the store may have files that no row knows.
 *
 *    a row READY or SCANNING, and no whole file of its size    a finding: nobody can read it
 *    a file, and neither a row nor a note of its removal       a note: nobody sees it, and it takes room
 *
 * The bytes are not read: an export compares their hashes. Spec: items 4, Store; docs/decisions/0350.
 */
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { mediaStore } from '../media/store.ts'
import type { StoredMedia } from '../media/stores/media-store.ts'
import { type Check, finding, listed, note, ok } from './finding.ts'

const system = { kind: 'SYSTEM', job: 'recovery_check' } as const
const pageRows = 1000

interface Row {
  readonly id: string
  /** Undefined: bytes that are still coming, or that wait for their removal. */
  readonly size_bytes: number | bigint | null
}

export async function checkMedia(installation: Installation): Promise<Check> {
  const tenants = await installation.transaction(
    system,
    { readOnly: true },
    ({ tx }) => tx.last<{ id: string }[]>`select id from tenant order by id`,
  )
  const lost: string[] = []
  const stray: string[] = []
  let count = 0
  try {
    for (const { id } of tenants) count += await compare(installation, id, lost, stray)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'media.store_failed') throw error
    return finding('media', 'the store of files cannot be read', 'docs/runbooks/media.md')
  }
  if (lost.length > 0)
    return finding(
      'media',
      `${lost.length} of ${count} file(s) are not in the store: ${listed(lost)}`,
      'Restore the store as well (docs/runbooks/media.md), or accept this finding: these files cannot be read.',
    )
  return stray.length > 0
    ? note(
        'media',
        `the store has ${stray.length} file(s) that no row knows: ${listed(stray)}`,
        'docs/runbooks/media.md',
      )
    : ok('media', `the store has all ${count} file(s)`)
}

/** Of one workspace; answers how many files its rows name. Memory holds what its store lists. */
async function compare(installation: Installation, tenantId: string, lost: string[], stray: string[]): Promise<number> {
  const stored = new Map<string, StoredMedia>()
  for await (const file of mediaStore(installation).list(tenantId))
    if (file.isWhole || !stored.has(file.mediaId)) stored.set(file.mediaId, file)
  let count = 0
  for await (const { id, size_bytes } of rowsOf(installation, tenantId)) {
    const file = stored.get(id)
    stored.delete(id)
    if (size_bytes === null) continue
    count += 1
    if (!file?.isWhole || file.sizeBytes !== Number(size_bytes)) lost.push(id)
  }
  stray.push(...stored.keys())
  return count
}

async function* rowsOf(installation: Installation, tenantId: string): AsyncGenerator<Row> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const from: string = after
    const rows: readonly Row[] = await installation.transaction(
      system,
      { tenantId, readOnly: true },
      ({ tx }) => tx.last<Row[]>`
        select id, max(size_bytes) as size_bytes from (
          select id, case when state in ('READY', 'SCANNING') then size_bytes end as size_bytes from media
          where tenant_id = ${tenantId} and id > ${from}::uuid
          union all
          select media_id, null from media_removal where tenant_id = ${tenantId} and media_id > ${from}::uuid
        ) known group by id order by id limit ${pageRows}`,
    )
    yield* rows
    after = rows.length < pageRows ? undefined : rows.at(-1)?.id
  }
}
