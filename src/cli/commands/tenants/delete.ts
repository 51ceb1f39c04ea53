import { Args, Flags } from '@oclif/core'
import { type DeletionPlan, purgeOperations } from '../../../core/contract/retention/operations.ts'
import { type AdminTenant, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findWorkspace, ownWorkspaceId } from '../../find/workspaces.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { planned } from '../../render/deletion-plan.ts'
import { moment } from '../../render/moment.ts'

export default class TenantsDelete extends CallerCommand {
  static override summary = 'Schedule the deletion of a workspace; it is purged after 30 days'
  static override description =
    'The workspace refuses its people from their next request. Until the purge begins, `tenants cancel-deletion` cancels it. ' +
    '--plan only shows what would be removed. --apply HASH continues only if that plan still holds. ' +
    'Asks for your password again.'
  static override examples = [
    '<%= config.bin %> tenants delete acme --plan',
    '<%= config.bin %> tenants delete acme --apply 5f3a90c1d2e4b678',
    '<%= config.bin %> tenants delete acme --confirm "Acme Ltd" --password-file me.password',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    plan: Flags.boolean({
      summary: 'Show what would be removed, and change nothing.',
      exclusive: ['apply', 'confirm'],
    }),
    apply: Flags.string({ summary: 'Continue only if the plan still has this hash.', helpValue: 'HASH' }),
    confirm: Flags.string({
      summary: "Confirm without a prompt: the workspace's display name or slug.",
      helpValue: 'NAME',
    }),
    ...proofFlags,
  }

  async run(): Promise<DeletionPlan | AdminTenant> {
    const { args, flags } = await this.parse(TenantsDelete)
    const caller = await this.open(flags)
    const { id: tenantId } = await findWorkspace(caller, args.workspace)
    const plan = await caller.call(purgeOperations.getDeletionPlan, { tenantId })
    if (flags.plan) {
      this.log(await planned(plan))
      this.tell(`\nTo continue: ${this.following(`tenants delete ${plan.slug} --apply ${plan.hash}`, flags)}`)
      return plan
    }
    if (flags.apply !== undefined && flags.apply !== plan.hash)
      throw new Failure(
        'conflict',
        `The plan ${flags.apply} is outdated; the plan is now ${plan.hash}. Nothing was done.`,
        `To see what changed: ${this.following(`tenants delete ${plan.slug} --plan`, flags)}`,
      )
    if (flags.confirm === undefined) this.tell(await planned(plan))
    const isOwn = tenantId === (await ownWorkspaceId(caller))
    await confirmByName(plan.display_name, warning(plan, isOwn), flags.confirm, plan.slug)

    const tenant = await this.callProven(
      caller,
      tenantOperations.deleteTenant,
      { tenantId, body: { confirmation: plan.display_name, plan_hash: plan.hash } },
      flags,
    )

    const cancel = `tenants cancel-deletion ${tenant.slug}`
    const back = isOwn ? `svc ${cancel} --recovery, or another operator` : this.following(cancel, flags)
    this.tell(
      `${tenant.slug} is pending deletion and is purged after ${moment(tenant.purge_after)}.\nTo cancel the deletion: ${back}`,
    )
    return tenant
  }
}

const warning = ({ slug, holds_in_force }: DeletionPlan, isOwn: boolean) => {
  const locks = `This locks ${isOwn ? 'you and ' : ''}the people of ${slug} out at once`
  return holds_in_force.length === 0
    ? `${locks} and removes everything in 30 days.`
    : `${locks}. ${holds_in_force.length} legal hold(s) keep its data until they are released.`
}
