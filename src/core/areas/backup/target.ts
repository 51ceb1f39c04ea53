/**
 * Backup targets: added, listed, removed, opened.
 *
 * A target belongs to its scope: a workspace, or the installation (nil). The secrets of its config
 * are one sealed value, bound to the target; answers contain none of them. The egress guard checks
 * an endpoint before anything is stored.
 *
 * Spec: Index, Backup; decisions 4; T-17.
 */

import type { BackupTarget, backupOperations as ops, TargetConfig } from '../../contract/backup/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import { EgressRefused } from '../../kernel/egress/guard.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { openSealed, removeSealed, storeSealed } from '../../kernel/transaction/sealed-values.ts'
import { type Actor, actsForInstallation, isAccount } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { tellOperators } from '../mail/operators.ts'
import { type Secrets, splitConfig } from './config.ts'
import type { OpenedTarget } from './store.ts'

/** The scope whose targets a caller sees. */
const scopeOf = (ctx: Ctx) => (actsForInstallation(ctx.actor) ? installationScope : ctx.account.tenantId)

/** At most 1,000, oldest first. */
export async function listBackupTargets(ctx: Ctx): Promise<Answer<typeof ops.listBackupTargets>> {
  const data = await ctx.tx.last<BackupTarget[]>`
    select id, name, kind, config, created_at, last_tested_at, version from backup_target
    where tenant_id = ${scopeOf(ctx)} order by id limit 1000`
  return { data }
}

/**
 * Checks the endpoint, DNS included, with no transaction open. Refuses request.invalid, auth.scope_required,
 * egress.forbidden.
 */
export async function vetNewTarget(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.createBackupTarget>,
): Promise<void> {
  const { plain } = splitConfig(body.kind, body.config)
  // A workspace must not fill the installation's own disk.
  if (body.kind === 'LOCAL' && !actsForInstallation(actor)) refuse('auth.scope_required', { scope: 'admin:tenants' })
  await vetEndpoint(installation, plain)
}

async function vetEndpoint(installation: Installation, { endpoint, host, port }: TargetConfig): Promise<void> {
  if (endpoint === undefined && host === undefined) return
  const egress = await installation.egress()
  try {
    const url = endpoint === undefined ? undefined : egress.readUrl(endpoint)
    await egress.vet(
      url?.hostname ?? host ?? '',
      url ? Number(url.port || (url.protocol === 'http:' ? 80 : 443)) : (port ?? 22),
    )
  } catch (error) {
    if (error instanceof EgressRefused) refuse('egress.forbidden')
    // A name that DNS cannot resolve now may resolve later; every use checks it again.
  }
}

/** Adds a target and seals its secrets. Refuses request.invalid. */
export async function createBackupTarget(
  ctx: Ctx,
  { body: { name, kind, config } }: Received<typeof ops.createBackupTarget>,
): Promise<Answer<typeof ops.createBackupTarget>> {
  const { plain, secrets } = splitConfig(kind, config)
  const scope = scopeOf(ctx)
  const id = newId()

  const [row] = await ctx.tx<BackupTarget[]>`
    insert into backup_target (tenant_id, id, name, kind, config) values (${scope}, ${id}, ${name}, ${kind}, ${ctx.tx.json(plain)})
    returning id, name, kind, config, created_at, last_tested_at, version`
  if (!row) throw new Error('an inserted target was not returned')
  if (secrets)
    await storeSealed(ctx, { tenantId: scope, kind: 'backup.credentials', ownerId: id }, JSON.stringify(secrets))
  await record(ctx, 'backup_target.created', id, kind)
  return row
}

/** Removes a target and its secrets; archives stay where they are. Refuses not_found, precondition.failed. */
export async function deleteBackupTarget(
  ctx: Ctx,
  { targetId }: Received<typeof ops.deleteBackupTarget>,
): Promise<void> {
  const scope = scopeOf(ctx)
  const [target] = await ctx.tx<{ version: number; kind: string }[]>`
    select version, kind from backup_target where tenant_id = ${scope} and id = ${targetId} for update`
  if (!target) refuse('not_found')
  ctx.unchanged(target.version)

  await ctx.tx`delete from backup_target where tenant_id = ${scope} and id = ${targetId}`
  await removeSealed(ctx, { tenantId: scope, kind: 'backup.credentials', ownerId: targetId })
  // The installation's targets serve the schedules of workspaces, too.
  const ofScope = scope === installationScope ? ctx.tx.part`` : ctx.tx.part`and tenant_id = ${scope}`
  void ctx.tx`update backup_schedule set paused_reason = 'TARGET_REMOVED' where target_id = ${targetId} ${ofScope}`
  await record(ctx, 'backup_target.removed', targetId, target.kind)
}

/** Actions for the installation go to the journal and are mailed to its operators; a workspace's go to its trail. */
async function record(
  ctx: Ctx,
  action: 'backup_target.created' | 'backup_target.removed',
  id: string,
  kind: string,
): Promise<void> {
  const evidence = { subject: { kind: 'backup_target', id }, params: { kind } }
  if (!actsForInstallation(ctx.actor)) {
    await ctx.audit(action, evidence)
    return
  }
  const notice = await ctx.journal(action, null, evidence)
  await tellOperators(ctx, action === 'backup_target.created' ? 'backup_target_added' : 'backup_target_removed', notice)
}

/** Whether a workspace may use a target: its own, or the installation's. In either role. */
export async function servesWorkspace(ctx: Ctx, tenantId: string, targetId: string): Promise<boolean> {
  const [shared] = await ctx.asInstallationOnce(
    () => ctx.tx`select from backup_target where tenant_id = ${installationScope} and id = ${targetId}`,
  )
  if (shared) return true
  const [own] = await ctx.inWorkspace(
    tenantId,
    () => ctx.tx`select from backup_target where tenant_id = ${tenantId} and id = ${targetId}`,
  )
  return own !== undefined
}

interface TargetRow {
  readonly kind: OpenedTarget['kind']
  readonly config: TargetConfig
}

/** A target of the caller's own scope, opened. Refuses not_found, secret.unavailable. */
export async function ownTarget(installation: Installation, actor: Actor, targetId: string): Promise<OpenedTarget> {
  const tenantId = isAccount(actor) && !actsForInstallation(actor) ? actor.tenantId : undefined
  const target = await readTarget(installation, actor, tenantId, targetId)
  return target ?? refuse('not_found')
}

/**
 * A target that a workspace may use: its own, or the installation's; undefined for any other. Refuses
 * secret.unavailable.
 */
export async function targetServing(
  installation: Installation,
  actor: Actor,
  tenantId: string,
  targetId: string,
): Promise<OpenedTarget | undefined> {
  return (
    (await readTarget(installation, actor, undefined, targetId)) ??
    (await readTarget(installation, actor, tenantId, targetId))
  )
}

function readTarget(
  installation: Installation,
  actor: Actor,
  tenantId: string | undefined,
  targetId: string,
): Promise<OpenedTarget | undefined> {
  const options = { readOnly: true, ...(tenantId === undefined ? {} : { tenantId }) }
  const scope = tenantId ?? installationScope
  return installation.transaction(actor, options, async (ctx) => {
    const [row] = await ctx.tx<TargetRow[]>`
      select kind, config from backup_target where tenant_id = ${scope} and id = ${targetId}`
    if (!row) return undefined
    const secrets =
      row.kind === 'LOCAL'
        ? {}
        : (JSON.parse(
            await openSealed(ctx, { tenantId: scope, kind: 'backup.credentials', ownerId: targetId }),
          ) as Secrets)
    return { ...row, secrets }
  })
}
