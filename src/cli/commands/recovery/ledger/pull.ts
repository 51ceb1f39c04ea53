import { Flags } from '@oclif/core'
import type { OpenedTarget } from '../../../../core/areas/backup/store.ts'
import type { PulledLedger } from '../../../../core/areas/recovery/ledger/ledger-pull.ts'
import type { Installation } from '../../../../core/kernel/transaction/installation.ts'
import { BaseCommand } from '../../../base-command.ts'
import { withInstallation } from '../../../call/recovery-installation.ts'
import { exitCodes, Failure } from '../../../failure.ts'
import { pick } from '../../../find/pick.ts'
import { kindFlag, readStore, storeFlags } from '../../../input/store-flags.ts'
import { moment } from '../../../render/moment.ts'
import { type Column, table } from '../../../render/table.ts'

const columns: readonly Column<PulledLedger>[] = [
  { head: 'LEDGER', cell: ({ lineage }) => lineage, whole: true },
  { head: 'LINES', cell: ({ lines }) => String(lines), align: 'right' },
  { head: 'OBLIGATIONS', cell: ({ obligations }) => String(obligations), align: 'right' },
  { head: 'NEWEST', cell: ({ newest_at }) => (newest_at === null ? '' : moment(newest_at)), whole: true },
  { head: 'CHAIN', cell: ({ fault }) => fault ?? 'intact', whole: true },
]

export default class RecoveryLedgerPull extends BaseCommand {
  static override summary = 'Fetch the obligation ledgers of this installation from a backup target'
  static override description =
    'For a host that was lost together with its ledger. Writes every ledger at the target into the folder ledgers in SVC_DATA_DIR and verifies its chain. reconcile, check and admit read these ledgers from then on. ' +
    'Give a target that the recovered database knows with --from. Describe a target that was added after the recovery point with the flags of `svc backup-targets add`. Exits 8 if a chain is broken or no ledger is there.'
  static override examples = [
    '<%= config.bin %> recovery ledger pull --from vault',
    '<%= config.bin %> recovery ledger pull --kind s3 --endpoint https://s3.example.org --region eu-1 --bucket backups --access-key-id AKIA --secret-file s3.key',
  ]
  static override flags = {
    from: Flags.string({
      summary: 'The name or id of a backup target of the installation.',
      helpValue: 'TARGET',
      exactlyOne: ['from', 'kind'],
    }),
    kind: kindFlag(),
    ...storeFlags,
  }

  async run(): Promise<{ ledgers: readonly PulledLedger[] }> {
    const { flags } = await this.parse(RecoveryLedgerPull)
    const described = flags.kind === undefined ? undefined : await readStore(flags.kind, flags)
    const ledgers = await withInstallation(this.note, async (installation) => {
      const { pullLedgers } = await import('../../../../core/areas/recovery/ledger/ledger-pull.ts')
      const target = described ? await openDescribed(described) : await openNamed(installation, flags.from ?? '')
      return pullLedgers(installation, target).catch(explain)
    })
    this.log(await table(ledgers, columns, 'The target holds no ledger of this installation.'))
    for (const { file } of ledgers) this.tell(`\n${file}`)
    if (ledgers.length === 0 || ledgers.some(({ fault }) => fault !== null)) process.exitCode = exitCodes.findings
    if (ledgers.length > 0) this.tell('\nNext: svc recovery reconcile')
    return { ledgers }
  }
}

async function openNamed(installation: Installation, name: string): Promise<OpenedTarget> {
  const { readTargets } = await import('../../../../core/areas/recovery/ledger/ledger-targets.ts')
  const { recoveryActor } = await import('../../../../core/kernel/values/actor.ts')
  const targets = await installation.transaction(recoveryActor(), { readOnly: true }, readTargets)
  const none = () =>
    new Failure(
      'notFound',
      `The recovered database knows no backup target "${name}" of the installation.`,
      'If it was added after the recovery point, describe it: --kind, and the flags of `svc backup-targets add`.',
    )
  return pick(targets, name, { by: (target) => target.name, called: 'targets', none }).open()
}

async function openDescribed(described: Awaited<ReturnType<typeof readStore>>): Promise<OpenedTarget> {
  const { splitConfig } = await import('../../../../core/areas/backup/config.ts')
  const { plain, secrets } = splitConfig(described.kind, described.config)
  return { kind: described.kind, config: plain, secrets: secrets ?? {} }
}

/** Turns the code of a target's failure into the refusal that other commands show. */
async function explain(error: unknown): Promise<never> {
  const { StoreFailure } = await import('../../../../core/areas/backup/store.ts')
  if (!(error instanceof StoreFailure)) throw error
  throw new Failure(
    'unreached',
    `The backup target cannot be used (${error.reason}).`,
    'docs/runbooks/backup-targets.md',
  )
}
