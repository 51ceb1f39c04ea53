/**
 * Makes the previews that pictures lack, every hour: those of before an upgrade, and those that came back with a restore, which
 * brings files alone.
 *
 *    READY, an image, never tried ──▶ previews, or none that can be made: not tried again
 *
 * A run that is killed goes on with the next. Nothing of a workspace that is not ACTIVE, or is being restored.
 * Spec: items 4; 8; docs/decisions/0515.
 */
import { z } from 'zod'
import type { Tx } from '../../kernel/database/transaction.ts'
import { isNotAdmitted } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { workspacesThat } from '../../kernel/transaction/workspaces.ts'
import { keyOf } from './media-row.ts'
import { makePreviews, noPreviews } from './previews.ts'
import { isMissing } from './store.ts'

const maker = { kind: 'SYSTEM', job: 'make_previews' } as const
/** What is left then, the next run does. */
const runMs = 50 * 60_000
/** Files that are read of a workspace at once; each takes a tenth of a second. */
const batch = 50

export const makeMissingPreviews = defineJob({
  name: 'make_previews',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '43 * * * *',
  takesLong: true,
  longestSeconds: 3_600,
  async run(installation) {
    const until = performance.now() + runMs
    for await (const tenantId of workspacesThat(installation, maker, hasSome)) {
      await previewAdmitted(installation, tenantId, until)
      if (performance.now() > until) return
    }
  },
})

/** Which they are, of the workspace. */
const lacking = (tx: Tx, tenantId: string) => tx.part`
  from media where tenant_id = ${tenantId} and state = 'READY' and previewed_at is null and kind = 'IMAGE'`

async function hasSome({ tx }: Ctx, tenantId: string): Promise<boolean> {
  const rows = await tx`select 1 ${lacking(tx, tenantId)} limit 1`
  return rows.length > 0
}

async function previewAdmitted(installation: Installation, tenantId: string, until: number): Promise<void> {
  try {
    for (let count = batch; count === batch && performance.now() < until; )
      count = await previewSome(installation, tenantId)
  } catch (error) {
    if (!isNotAdmitted(error)) throw error
  }
}

interface Picture {
  readonly id: string
  readonly size_bytes: number | bigint
  readonly content_type: string | null
}

/** Answers how many files it looked at. Refuses tenant_suspended, workspace.restoring, media.store_failed. */
async function previewSome(installation: Installation, tenantId: string): Promise<number> {
  const pictures = await installation.transaction(
    maker,
    { tenantId, readOnly: true },
    ({ tx }) => tx.last<Picture[]>`
      select id, size_bytes, content_type ${lacking(tx, tenantId)} order by id limit ${batch}`,
  )
  for (const { id, size_bytes, content_type } of pictures) {
    const file = { ...keyOf(tenantId, id), sizeBytes: Number(size_bytes) }
    const made = await makePreviews(installation, file, content_type ?? '').catch((error: unknown) => {
      if (isMissing(error)) return noPreviews
      throw error
    })
    const more = made.small_bytes === null ? 0 : 1
    await installation.transaction(
      maker,
      { tenantId, admits: true },
      ({ tx }) => tx`
        update media set width = ${made.width}, height = ${made.height}, small_bytes = ${made.small_bytes},
               medium_bytes = ${made.medium_bytes}, previewed_at = now(), version = version + ${more}
        where tenant_id = ${tenantId} and id = ${id} and state = 'READY' and previewed_at is null`,
    )
  }
  return pictures.length
}
