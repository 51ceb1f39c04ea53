/**
 * Fetches a package: five times at most, for some days. The person does; an administrator where the person cannot sign in, under
 * the ceiling. Each call is counted before its bytes are sent, and stands in the trail. Spec: Keeping, 2, K2.
 */
import type { BytesAnswer, Received } from '../../../contract/operation.ts'
import { mostFetches, type privacyPackageOperations as ops } from '../../../contract/privacy/packages.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { isAccount } from '../../../kernel/values/actor.ts'
import { keepCeilingOfEach } from '../../auth/token/ceiling.ts'
import { mediaStore } from '../../media/store.ts'
import { isHandler, isSeenRequest } from '../row.ts'

export interface Fetched {
  readonly fileId: string
  readonly sizeBytes: number
  readonly sha256: string
}

interface PackageRow {
  readonly account_id: string | null
  readonly can_sign_in: boolean
  readonly state: 'QUEUED' | 'READY' | 'GONE' | null
  readonly is_past: boolean
  readonly fetches: number | null
  readonly file_id: string | null
  readonly size_bytes: string | null
  readonly sha256: string | null
}

/** Refuses not_found, auth.role_required, admin.operator_required, privacy.package_not_ready, privacy.package_gone. */
export const countFetch = (
  installation: Installation,
  actor: Actor,
  { requestId }: Received<typeof ops.getPrivacyPackage>,
): Promise<Fetched> =>
  installation.transaction(actor, isAccount(actor) ? { tenantId: actor.tenantId } : {}, (ctx) =>
    counted(ctx, requestId),
  )

async function counted(ctx: Ctx, requestId: string): Promise<Fetched> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const [row] = await tx<PackageRow[]>`
    select r.account_id, coalesce(a.state = 'ACTIVE', false) as can_sign_in, p.state, coalesce(p.expires_at <= now(), false) as is_past,
           p.fetches, p.file_id, p.size_bytes::text as size_bytes, p.sha256
    from privacy_request r left join account a on a.tenant_id = r.tenant_id and a.id = r.account_id
    left join privacy_package p on p.tenant_id = r.tenant_id and p.request_id = r.id
    where r.tenant_id = ${tenantId} and r.id = ${requestId} and ${isSeenRequest(ctx)} for update of r`
  if (!row) refuse('not_found')
  if (row.account_id !== accountId) {
    // Whose data they are fetches them alone.
    if (!isHandler(ctx) || row.can_sign_in) refuse('auth.role_required', { role: 'OWNER' })
    if (row.account_id !== null) await keepCeilingOfEach(ctx, [row.account_id])
  }
  const { state, fetches, file_id, size_bytes, sha256 } = row
  if (state === null || state === 'QUEUED') refuse('privacy.package_not_ready')
  const isOver = state === 'GONE' || row.is_past || (fetches ?? 0) >= mostFetches
  if (isOver || file_id === null || size_bytes === null || sha256 === null) refuse('privacy.package_gone')

  await tx`
    update privacy_package set fetches = fetches + 1 where tenant_id = ${tenantId} and request_id = ${requestId}`
  await ctx.audit('privacy_package.fetched', {
    subject: { kind: 'privacy_request', id: requestId },
    params: { fetch: (fetches ?? 0) + 1 },
  })
  return { fileId: file_id, sizeBytes: Number(size_bytes), sha256 }
}

/** Refuses as the counting does; the reading refuses media.store_failed. */
export async function getPrivacyPackage(
  ctx: Ctx,
  _: Received<typeof ops.getPrivacyPackage>,
  { fileId, sizeBytes, sha256 }: Fetched,
): Promise<BytesAnswer> {
  const store = mediaStore(ctx)
  const key = { tenantId: ctx.account.tenantId, mediaId: fileId }
  return {
    ...{
      etag: `"${sha256}"`,
      contentType: 'application/zip',
      sizeBytes,
      filename: 'personal-data.zip',
      isInline: false,
    },
    open: (from, to) => store.read(key, { from, to }),
  }
}
