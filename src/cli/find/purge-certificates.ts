/** Certificates by what people remember of a workspace that is gone: its slug, or its id. */
import { Problem } from '../../core/contract/problem.ts'
import { type PurgeCertificate, purgeOperations } from '../../core/contract/retention/operations.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The certificate of that slug or id. Refuses not_found; fails (usage) where several workspaces had the slug. */
export async function findCertificate(caller: Caller, name: string): Promise<PurgeCertificate> {
  if (idShape.test(name)) return caller.call(purgeOperations.getPurgeCertificate, { tenantId: name.toLowerCase() })
  const { data } = await caller.call(purgeOperations.listPurgeCertificates, { slug: name })
  const [found, ...others] = data
  if (!found) throw new Problem('not_found')
  if (others.length > 0)
    throw new Failure(
      'usage',
      `${data.length} workspaces were called ${name}.`,
      `Name one by its id: ${data.map(({ tenant_id }) => tenant_id).join(', ')}.`,
    )
  return found
}
