import { Args, Flags } from '@oclif/core'
import { type Hold, type HoldScope, retentionOperations } from '../../../core/contract/retention/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { holdDetails } from '../../render/hold.ts'

const kinds = { container: 'CONTAINER', item: 'ITEM', account: 'ACCOUNT' } as const

export default class HoldsPlace extends CallerCommand {
  static override summary = 'Place a legal hold; nothing under it is deleted while it is in force'
  static override description =
    'The hold covers the whole workspace, or one container, item or account in it. A workspace with any hold in force is not purged.'
  static override examples = [
    '<%= config.bin %> holds place acme --reason "case 4711"',
    '<%= config.bin %> holds place acme --account 0190c9d2-7a3b-7cde-8f01-23456789abcd --reason "case 4711"',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    reason: Flags.string({ summary: 'The reason; at most 500 characters.', required: true, helpValue: 'TEXT' }),
    container: Flags.string({ summary: 'Only this container.', helpValue: 'ID' }),
    item: Flags.string({ summary: 'Only this item.', helpValue: 'ID' }),
    account: Flags.string({ summary: 'Only this account.', helpValue: 'ID' }),
  }

  async run(): Promise<Hold> {
    const { args, flags } = await this.parse(HoldsPlace)
    const scope = scopeOf(flags)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    const hold = await caller.call(retentionOperations.placeHold, {
      body: { tenant_id: tenant.id, scope, reason: flags.reason },
    })
    this.log(holdDetails(hold))
    this.tell(`\nIn force. To release it: ${this.following(`holds release ${hold.id}`, flags)}`)
    return hold
  }
}

function scopeOf(flags: Partial<Record<keyof typeof kinds, string | undefined>>): HoldScope {
  const named = (['container', 'item', 'account'] as const).filter((name) => flags[name] !== undefined)
  const [name, other] = named
  if (other) throw new Failure('usage', `--${name} and --${other} cannot both be given.`, 'Place one hold for each.')
  return name ? { kind: kinds[name], id: flags[name] ?? null } : { kind: 'TENANT' }
}
