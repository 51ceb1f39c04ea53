/** The installation's backup targets, which all keep a copy of its ledger. A workspace's own targets never do. */
import type { TargetConfig, TargetKind } from '../../../contract/backup/operations.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { openSealed } from '../../../kernel/transaction/sealed-values.ts'
import { type OpenedTarget, StoreFailure } from '../../backup/store.ts'

export interface LedgerTarget {
  readonly id: string
  readonly name: string
  readonly kind: TargetKind
  /** Opens it with its credentials. Throws StoreFailure (credentials) if the keyring cannot decrypt them. */
  open(): OpenedTarget
}

interface Row {
  readonly id: string
  readonly name: string
  readonly kind: TargetKind
  readonly config: TargetConfig
}

/** Reads the targets in the caller's transaction, independent of its role and beside what it does. Oldest first. */
export async function readTargets(ctx: Ctx): Promise<readonly LedgerTarget[]> {
  const rows = await ctx.asInstallationOnce(
    () => ctx.tx<Row[]>`
      select id, name, kind, config from backup_target where tenant_id = ${installationScope} order by id`,
  )
  return Promise.all(rows.map((row) => openable(ctx, row)))
}

async function openable(ctx: Ctx, { id, name, kind, config }: Row): Promise<LedgerTarget> {
  const place = { tenantId: installationScope, kind: 'backup.credentials' as const, ownerId: id }
  const secrets: OpenedTarget['secrets'] | undefined =
    kind === 'LOCAL'
      ? {}
      : await ctx
          .asInstallationOnce(() => openSealed(ctx, place))
          .then(
            (text) => JSON.parse(text),
            () => undefined,
          )
  return {
    ...{ id, name, kind },
    open() {
      if (!secrets) throw new StoreFailure('credentials')
      return { kind, config, secrets }
    },
  }
}
