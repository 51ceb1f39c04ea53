import { Args, Flags } from '@oclif/core'
import { type Restore, type RestoreState, restoreOperations } from '../../../core/contract/backup/restores.ts'
import { CallerCommand, type CallerFlags } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'
import { findOwnOrAny } from '../../find/workspaces.ts'
import { followRestore } from '../../follow/restores.ts'
import { confirmByName } from '../../input/prompts.ts'
import { type ProofFlags, proofFlags } from '../../input/second-factor-input.ts'
import { moment } from '../../render/moment.ts'
import { planned, restoreDetails } from '../../render/restore.ts'

const flags = {
  to: Flags.string({
    summary: 'The moment to go back to: the newest backup that is not after it is taken.',
    helpValue: 'MOMENT',
    dependsOn: ['plan'],
  }),
  plan: Flags.boolean({ summary: 'Show what would change, and change nothing.', exclusive: ['apply', 'undo'] }),
  apply: Flags.string({ summary: 'Carry out the plan that has this hash.', helpValue: 'HASH', exclusive: ['undo'] }),
  undo: Flags.boolean({ summary: 'Take the last rewind back.' }),
  'replace-edits': Flags.boolean({
    summary: 'With --undo: take back what was edited since, too.',
    dependsOn: ['undo'],
  }),
  confirm: Flags.string({ summary: 'Confirm without a prompt: the slug of the workspace.', helpValue: 'SLUG' }),
  ...proofFlags,
}

export default class TenantsRewind extends CallerCommand {
  static override summary = 'Set what people made in a workspace back to how it was'
  static override description =
    'Takes a backup of the workspace. --plan shows in numbers what comes back, changes back and goes; --apply HASH does it, and closes ' +
    'the workspace for some seconds; --undo takes it back for some days. Accounts, roles, credentials, holds and the trail stay as ' +
    'they are. Asks for your password again. With --recovery this command does the work itself.'
  static override examples = [
    '<%= config.bin %> tenants rewind acme --to 2026-11-26T09:00:00Z --plan',
    '<%= config.bin %> tenants rewind acme --apply 5f3a90c1d2e4b678',
    '<%= config.bin %> tenants rewind acme --undo --confirm acme --password-file me.password',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = flags

  async run(): Promise<Restore> {
    const { args, flags } = await this.parse(TenantsRewind)
    const caller = await this.open(flags)
    const tenant = await findOwnOrAny(caller, args.workspace)
    if (flags.plan) return this.plan(caller, tenant, flags)
    if (flags.apply !== undefined) return this.apply(caller, tenant, flags.apply, flags)
    if (flags.undo) return this.undo(caller, tenant, flags)
    throw new Failure('usage', 'Say what to do: --to MOMENT --plan, --apply HASH or --undo.')
  }

  private async plan(caller: Caller, { id, slug }: Tenant, flags: RewindFlags): Promise<Restore> {
    if (flags.to === undefined) throw new Failure('usage', 'Name the moment with --to.')
    const asked = await caller.call(restoreOperations.createRestore, {
      body: { into: 'REPLACE', tenant_id: id, to: flags.to },
    })
    const restore = await followRestore(caller, asked)
    if (!restore.plan) throw new Failure('failed', `The restore ${restore.id} is ${restore.state}.`)
    this.log(await planned(restore.plan))
    this.tell(
      `\nNothing was changed. To continue: ${this.following(`tenants rewind ${slug} --apply ${restore.plan.hash}`, flags)}`,
    )
    return restore
  }

  private async apply(caller: Caller, tenant: Tenant, hash: string, flags: RewindFlags): Promise<Restore> {
    const restore = await latest(caller, tenant.id, 'PLANNED')
    if (!restore)
      throw new Failure(
        'conflict',
        'There is no plan of a rewind that waits. Nothing was done.',
        `To make one: ${this.following(`tenants rewind ${tenant.slug} --to MOMENT --plan`, flags)}`,
      )
    const to = moment(restore.source.snapshot_at)
    await confirmByName(tenant.slug, `${tenant.slug} is closed for some seconds, and set back to ${to}.`, flags.confirm)
    const sent = { restoreId: restore.id, body: { plan_hash: hash } }
    const applying = await this.callProven(caller, restoreOperations.applyRestore, sent, flags)
    const done = await followRestore(caller, applying)
    this.log(restoreDetails(done))
    this.tell(
      `\n${tenant.slug} is as it was at ${to}. To take this back: ${this.following(`tenants rewind ${tenant.slug} --undo`, flags)}`,
    )
    return done
  }

  private async undo(caller: Caller, tenant: Tenant, flags: RewindFlags): Promise<Restore> {
    const restore = await latest(caller, tenant.id, 'DONE')
    if (!restore) throw new Failure('conflict', 'There is no rewind that could be taken back. Nothing was done.')
    await confirmByName(
      tenant.slug,
      `${tenant.slug} is closed for some seconds, and its rewind is taken back.`,
      flags.confirm,
    )
    const edited_since = flags['replace-edits'] ? ('REPLACE' as const) : ('KEEP' as const)
    const sent = { restoreId: restore.id, body: { edited_since } }
    const undoing = await this.callProven(caller, restoreOperations.undoRestore, sent, flags)
    const done = await followRestore(caller, undoing)
    this.log(restoreDetails(done))
    return done
  }
}

interface Tenant {
  readonly id: string
  readonly slug: string
}
type RewindFlags = CallerFlags &
  ProofFlags & {
    readonly to?: string | undefined
    readonly confirm?: string | undefined
    readonly 'replace-edits'?: boolean
  }

async function latest(caller: Caller, tenantId: string, state: RestoreState): Promise<Restore | undefined> {
  const { data } = await caller.call(restoreOperations.listRestores, { tenant_id: tenantId, state, size: 50 })
  return data.find(({ into }) => into === 'REPLACE')
}
