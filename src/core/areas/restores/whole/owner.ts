/** The owner of a NEW: invited by mail, as the account of the archive that has the address, or as another one. Spec: Keeping, 3. */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'
import { timeNow } from '../../../kernel/values/time.ts'
import { sendInvitation } from '../../auth/invitation-mail.ts'
import { endInvitation } from '../../auth/sign-in/jobs.ts'
import { writeOwner } from '../../tenants/provision.ts'
import type { RestoreWork } from '../work.ts'

/** In the role of the new workspace. */
export async function inviteOwner(ctx: Ctx, { tenantId, row }: RestoreWork): Promise<void> {
  const { tx } = ctx
  const email = row.new_tenant?.owner_email
  if (email === undefined) throw new Error('a NEW names its owner')
  const [known] = await tx<{ id: string }[]>`
    select id from account where tenant_id = ${tenantId} and email_fold = ${caseFold(email)} and kind = 'PERSON'`
  const accountId = known?.id ?? newId()
  if (known) await makeOwner(ctx, tenantId, accountId)
  else await writeOwner(ctx, { id: tenantId }, { accountId, email, displayName: null, passwordHash: null })

  const invitationId = newId()
  const expiresAt = new Date(timeNow() + ctx.config.invitationDays * 86_400_000)
  void tx`
    insert into invitation (tenant_id, id, account_id, expires_at, is_mailed)
    values (${tenantId}, ${invitationId}, ${accountId}, ${expiresAt}, true)`
  await ctx.enqueue(endInvitation, { tenantId, invitationId }, { startAfter: expiresAt })
  await ctx.enqueue(sendInvitation, { tenantId, accountId, invitationId })
}

async function makeOwner({ tx }: Ctx, tenantId: string, accountId: string): Promise<void> {
  void tx`
    update account set state = 'INVITED', disabled_at = null, state_before = null, joined_at = null, version = version + 1
    where tenant_id = ${tenantId} and id = ${accountId}`
  void tx`
    delete from membership where tenant_id = ${tenantId} and account_id = ${accountId} and container_id is null`
  await tx`
    insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${newId()}, ${accountId}, 'OWNER')`
}
