import { Args } from '@oclif/core'
import { type QuotaName, quotaNames } from '../../../../core/contract/quotas.ts'
import { tenantOperations } from '../../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../../base-command.ts'
import { Failure } from '../../../failure.ts'
import { findWorkspace } from '../../../find/workspaces.ts'
import { quotaTable } from '../../../render/quotas.ts'

export default class TenantsQuotasSet extends CallerCommand {
  static override summary = "Change a workspace's quotas"
  static override description =
    `VALUE is a whole number, \`unlimited\` (0), or \`default\` for the value of the installation. Quotas: ${quotaNames.join(', ')}.`
  static override examples = [
    '<%= config.bin %> tenants quotas set acme items=5000',
    '<%= config.bin %> tenants quotas set acme media_bytes=default api_requests_per_minute=unlimited',
  ]
  static override strict = false
  static override usage = 'tenants quotas set WORKSPACE QUOTA=VALUE...'
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
    changes: Args.string({ ignoreStdin: true, required: true, description: 'one or more QUOTA=VALUE' }),
  }

  async run(): Promise<unknown> {
    const { args, argv, flags } = await this.parse(TenantsQuotasSet)
    const changes = Object.fromEntries((argv as string[]).slice(1).map(readChange))
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    const quotas = await caller.call(tenantOperations.changeTenantQuotas, { tenantId: tenant.id, body: changes })
    this.tell(`Changed ${Object.keys(changes).join(', ')} of ${tenant.slug}.`)
    await this.show(() => quotaTable(quotas))
    return quotas
  }
}

/** `items=5000` as a member of the patch; int64 stays exact. */
function readChange(change: string): [QuotaName, number | bigint | null] {
  const [name, value, ...rest] = change.split('=')
  if (!name || !value || rest.length > 0) throw new Failure('usage', `"${change}" does not have the form QUOTA=VALUE.`)
  if (!quotaNames.includes(name as QuotaName))
    throw new Failure('usage', `There is no quota "${name}".`, `The quotas are: ${quotaNames.join(', ')}.`)
  if (value === 'default') return [name as QuotaName, null]
  if (value === 'unlimited') return [name as QuotaName, 0]
  if (!/^[0-9]{1,19}$/.test(value))
    throw new Failure('usage', `${name} must be a whole number, \`unlimited\` or \`default\`.`)
  const number = BigInt(value)
  return [name as QuotaName, number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : number]
}
