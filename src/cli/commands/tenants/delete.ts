import { Args, Flags } from '@oclif/core'
import { type AdminTenant, tenantOperations } from '../../../core/admin/tenants/contract.ts'
import { type DeletionPlan, retentionOperations } from '../../../core/retention/contract.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { confirmByName } from '../../prompts.ts'
import { planned } from '../../render/deletion-plan.ts'
import { moment } from '../../render/moment.ts'
import { proofFlags } from '../../second-factor-input.ts'
import { findWorkspace } from '../../workspaces.ts'

export default class TenantsDelete extends CallerCommand {
  static override summary = 'Ask for the deletion of a workspace; it is purged after 30 days'
  static override description =
    'Its people are refused from their next request. Until the purge begins, `tenants cancel-deletion` takes it back. ' +
    'With --plan it only says what would go. --apply HASH goes on only if that is still true. ' +
    'Your password is asked for once more.'
  static override examples = [
    '<%= config.bin %> tenants delete acme --plan',
    '<%= config.bin %> tenants delete acme --apply 5f3a90c1d2e4b678',
    '<%= config.bin %> tenants delete acme --confirm "Acme Ltd" --password-file me.password',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    plan: Flags.boolean({ summary: 'Say what would go, and change nothing.', exclusive: ['apply', 'confirm'] }),
    apply: Flags.string({ summary: 'Go on only while the plan of this hash holds.', helpValue: 'HASH' }),
    confirm: Flags.string({ summary: "The workspace's display name, instead of typing it.", helpValue: 'NAME' }),
    ...proofFlags,
  }

  async run(): Promise<DeletionPlan | AdminTenant> {
    const { args, flags } = await this.parse(TenantsDelete)
    const caller = await this.open(flags)
    const { id: tenantId } = await findWorkspace(caller, args.workspace)
    const plan = await caller.call(retentionOperations.getDeletionPlan, { tenantId })
    if (flags.plan) {
      this.log(await planned(plan))
      this.tell(`\nTo go on: svc tenants delete ${plan.slug} --apply ${plan.hash}`)
      return plan
    }
    if (flags.apply !== undefined && flags.apply !== plan.hash)
      throw new Failure(
        'conflict',
        `The plan ${flags.apply} does not hold any more: it is ${plan.hash} now. Nothing was done.`,
        `See what changed: svc tenants delete ${plan.slug} --plan`,
      )
    if (flags.confirm === undefined) this.tell(await planned(plan))
    await confirmByName(plan.display_name, warning(plan), flags.confirm)

    const tenant = await this.callProven(
      caller,
      tenantOperations.deleteTenant,
      { tenantId, body: { confirmation: plan.display_name } },
      flags,
    )

    this.tell(
      `${tenant.slug} is pending deletion and is purged after ${moment(tenant.purge_after)}.\nTo take that back: svc tenants cancel-deletion ${tenant.slug}`,
    )
    return tenant
  }
}

const warning = ({ slug, holds_in_force }: DeletionPlan) =>
  holds_in_force.length === 0
    ? `This locks the people of ${slug} out at once and removes everything in 30 days.`
    : `This locks the people of ${slug} out at once. ${holds_in_force.length} legal hold(s) keep its data until they are released.`
