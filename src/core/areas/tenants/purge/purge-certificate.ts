/**
 * The purge certificate: the signed list of what a purge removed.
 *
 *    {"format":"svc/purge-certificate/1","installation_id","workspace":{id,slug},
 *     "deletion_requested_at","purge_after","purge_started_at","purged_at","slug_blocked_until",
 *     "holds":{"checks","in_force"},"removed":[{"place","count","sha256"}]}
 *
 * `removed` lists every table, including empty ones, and the queue; for the hash see
 * removed-keys.ts. The text is stored and answered byte for byte as it was signed. The signature
 * is Ed25519, with a key derived from the keyring's current key (`svc/purge-certificate/v1`). So
 * the signing key is backed up with the keyring and is not stored itself. docs/decisions/0021.
 *
 * Spec: decisions 4; Purge certificate.
 */
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { purgeOperations as ops, PurgeCertificate } from '../../../contract/retention/operations.ts'
import { workspaceTables } from '../../../contract/tables.ts'
import type { Keyring } from '../../../kernel/sealing/keyring.ts'
import { signatureFaultOf, signed } from '../../../kernel/sealing/signing.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { pageOfRows } from '../../../kernel/transaction/page.ts'
import { jobsPlace } from './purge-queue.ts'
import { extended, type Removed } from './removed-keys.ts'

export interface PurgedFacts {
  readonly id: string
  readonly slug: string
  readonly deletion_requested_at: string
  readonly purge_after: string
  readonly purge_started_at: string
  readonly slugBlockedUntil: string
  readonly removed: Readonly<Record<string, Removed>>
  readonly hold_checks: number
}

/** Writes the signed certificate of a purge that has removed everything, and answers the counts by place. */
export async function certify(ctx: Ctx, facts: PurgedFacts): Promise<Readonly<Record<string, number>>> {
  const [installation] = await ctx.tx<{ id: string; now: string }[]>`select id, now() as now from installation`
  const places = [...Object.keys(workspaceTables), jobsPlace].sort()
  const removed = places.map((place) => ({ place, ...(facts.removed[place] ?? extended(place, undefined, [])) }))
  const document = JSON.stringify({
    format: 'svc/purge-certificate/1',
    installation_id: installation?.id,
    workspace: { id: facts.id, slug: facts.slug },
    deletion_requested_at: facts.deletion_requested_at,
    purge_after: facts.purge_after,
    purge_started_at: facts.purge_started_at,
    purged_at: installation?.now,
    slug_blocked_until: facts.slugBlockedUntil,
    holds: { checks: facts.hold_checks, in_force: 0 },
    removed,
  })
  const { key_id, public_key, signature } = signed(ctx.keyring, certificatePurpose, document)
  await ctx.tx`
    insert into purge_certificate (workspace_id, workspace_slug, purged_at, document, key_id, public_key, signature)
    values (${facts.id}, ${facts.slug}, now(), ${document}, ${key_id}, ${public_key}, ${signature})`
  return Object.fromEntries(removed.filter(({ count }) => count > 0).map(({ place, count }) => [place, count]))
}

interface CertificateRow {
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly purged_at: string
  readonly document: string
  readonly key_id: string
  readonly public_key: Buffer
  readonly signature: Buffer
}

/** Newest first. Refuses cursor.invalid. */
export async function listPurgeCertificates(
  ctx: Ctx,
  { slug, cursor, size }: Received<typeof ops.listPurgeCertificates>,
): Promise<Answer<typeof ops.listPurgeCertificates>> {
  const { tx } = ctx
  const [at = 'infinity', id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'] =
    cursor === undefined ? [] : ctx.cursor.read('listPurgeCertificates', { slug }, cursor)
  const rows = await tx<(CertificateRow & { at: string })[]>`
    select *, purged_at::text as at from purge_certificate
    where (purged_at, workspace_id) < (${at}::timestamptz, ${id}::uuid) ${slug === undefined ? tx.part`` : tx.part`and workspace_slug = ${slug}`}
    order by purged_at desc, workspace_id desc
    limit ${size + 1}`
  const list = { operation: 'listPurgeCertificates', filters: { slug } }
  const { data, next_cursor } = pageOfRows(ctx, list, rows, size, (last) => [last.at, last.workspace_id])
  return { data: data.map(certificateOf), next_cursor }
}

/** The certificate of one workspace. Refuses not_found. */
export async function getPurgeCertificate(
  ctx: Ctx,
  { tenantId }: Received<typeof ops.getPurgeCertificate>,
): Promise<PurgeCertificate> {
  return certificateOf(await readCertificate(ctx, tenantId))
}

export async function readCertificate(ctx: Ctx, tenantId: string): Promise<CertificateRow> {
  const [row] = await ctx.tx<CertificateRow[]>`select * from purge_certificate where workspace_id = ${tenantId}`
  if (!row) refuse('not_found')
  return row
}

const certificateOf = (row: CertificateRow): PurgeCertificate => ({
  tenant_id: row.workspace_id,
  slug: row.workspace_slug,
  purged_at: row.purged_at,
  document: row.document,
  signature: {
    algorithm: 'Ed25519',
    key_id: row.key_id,
    public_key: row.public_key.toString('base64url'),
    value: row.signature.toString('base64url'),
  },
})

/** The fault of the signature; undefined if the document is as this installation signed it. */
export const signatureFault = (keyring: Keyring, { document, ...row }: CertificateRow): string | undefined =>
  signatureFaultOf(keyring, certificatePurpose, document, row)

/** A certificate is never signed again, so the key derived for this purpose stays after its keyring key is retired. */
export const certificatePurpose = 'svc/purge-certificate/v1'
