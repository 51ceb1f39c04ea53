/**
 * Verifies a purge at any later time: whether the certificate is genuine, and whether nothing is left.
 *
 * The scan covers the places of the purge (every table of the catalog, the queue, the folders, the bucket of files)
 * and the installation's tables. Spec: decisions 4; Purge certificate.
 */
import { existsSync } from 'node:fs'
import type { Answer, Received } from '../../../contract/operation.ts'
import type { purgeOperations as ops } from '../../../contract/retention/operations.ts'
import { asInstallation } from '../../../kernel/database/roles.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { mediaStore } from '../../media/store.ts'
import { foldersOf } from './purge.ts'
import { readCertificate, signatureFault } from './purge-certificate.ts'
import { countJobs, jobsPlace } from './purge-queue.ts'
import { countRows, readTableNames } from './purge-tables.ts'

const mostCounted = 1000

interface Scanned {
  readonly place: string
  readonly left: number
}

/** The workspace's files in the bucket, if there is one; counted up to 1,000. Refuses media.store_failed. */
export async function lookIntoBucket(
  installation: Installation,
  _actor: Actor,
  { tenantId }: Received<typeof ops.verifyPurgeCertificate>,
): Promise<Scanned[]> {
  if (!installation.config.media.bucket) return []
  let left = 0
  for await (const _file of mediaStore(installation).list(tenantId)) {
    left += 1
    if (left === mostCounted) break
  }
  return [{ place: 'media_bucket', left }]
}

/** Verifies a certificate. Findings are answered, not refused. Refuses not_found where there is no certificate. */
export async function verifyPurgeCertificate(
  ctx: Ctx,
  { tenantId }: Received<typeof ops.verifyPurgeCertificate>,
  inBucket: readonly Scanned[],
): Promise<Answer<typeof ops.verifyPurgeCertificate>> {
  const certificate = await readCertificate(ctx, tenantId)
  const fault = signatureFault(ctx.keyring, certificate)
  const scanned = [...(await scan(ctx, tenantId)), ...inBucket]
  const entries = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from journal where workspace_id = ${tenantId} and action = 'tenant.purged'`
  const purged = entries[0]?.count ?? 0

  const findings = [
    ...(fault ? [{ code: fault, params: { key_id: certificate.key_id } }] : []),
    ...(namesWorkspace(certificate.document, tenantId) ? [] : [{ code: 'document.other_workspace', params: {} }]),
    ...(purged === 1 ? [] : [{ code: 'journal.entries', params: { expected: 1, found: purged } }]),
    ...scanned.filter(({ left }) => left > 0).map((found) => ({ code: 'data.left', params: { ...found } })),
  ]
  return { tenant_id: tenantId, ok: findings.length === 0, findings, scanned }
}

const namesWorkspace = (document: string, tenantId: string) =>
  (JSON.parse(document) as { workspace?: { id?: unknown } }).workspace?.id === tenantId

async function scan(ctx: Ctx, tenantId: string): Promise<Scanned[]> {
  await readTableNames(ctx.tx) // throws if the catalog has a table that tables.ts does not list
  const own = await ctx.tx<{ place: string; left: number }[]>`
    select 'tenant' as place, count(*)::int as left from tenant where id = ${tenantId}
    union all select 'operator', count(*)::int from operator where workspace_id = ${tenantId}
    union all select 'purge_progress', count(*)::int from purge_progress where workspace_id = ${tenantId}`
  const rows = await ctx.inWorkspace(tenantId, () => countRows(ctx.tx, tenantId))
  const jobs = await countJobs(ctx, tenantId)
  await ctx.tx.switch(asInstallation)
  return [
    ...own,
    ...[...rows].map(([place, left]) => ({ place, left })),
    { place: jobsPlace, left: jobs },
    ...foldersOf(ctx.config, tenantId).map(({ place, path }) => ({ place, left: existsSync(path) ? 1 : 0 })),
  ]
}
