/** Certificates by what people remember of a workspace that is gone: its slug, or its id. */
import { type PurgeCertificate, purgeOperations } from '../../core/contract/retention/operations.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { isId, only } from './pick.ts'

/** The certificate of that slug or id. Refuses not_found; fails (usage) where several workspaces had the slug. */
export async function findCertificate(caller: Caller, name: string): Promise<PurgeCertificate> {
  if (isId(name)) return caller.call(purgeOperations.getPurgeCertificate, { tenantId: name.toLowerCase() })
  const { data } = await caller.call(purgeOperations.listPurgeCertificates, { slug: name })
  const ids = data.map(({ tenant_id }) => tenant_id).join(', ')
  return only(
    data,
    () => new Failure('usage', `${data.length} workspaces were called ${name}.`, `Name one by its id: ${ids}.`),
  )
}
