/** What is said of a backup: in the workspace's trail and in the installation's journal, whoever asked. Spec: Keeping, 3. */
import type { Ctx } from '../../../kernel/transaction/context.ts'

export async function record(
  ctx: Ctx,
  tenant: { readonly id: string; readonly slug: string },
  action:
    | 'tenant.backup_requested'
    | 'tenant.backup_removed'
    | 'tenant.backup_gone_under_hold'
    | 'tenant.backup_verification_requested',
  backup: { readonly id: string; readonly targetId: string },
): Promise<void> {
  const evidence = { subject: { kind: 'backup', id: backup.id }, params: { target_id: backup.targetId } }
  await ctx.asInstallation(() => ctx.journal(action, { id: tenant.id, slug: tenant.slug }, evidence))
  await ctx.inWorkspace(tenant.id, () => ctx.audit(action, evidence))
}
