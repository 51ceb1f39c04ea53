import { Flags } from '@oclif/core'
import type { Step } from '../../../core/areas/recovery/obligations/obligation.ts'
import { BaseCommand } from '../../base-command.ts'
import { demandBegun, ledgerFlag, withInstallation } from '../../call/recovery-installation.ts'
import { exitCodes } from '../../failure.ts'
import { stepTable } from '../../render/recovery.ts'

interface Reconciliation {
  readonly applied: boolean
  /** The steps that were done; without --apply, those that would be. */
  readonly steps: readonly Step[]
  readonly hindered: readonly Step[]
}

export default class RecoveryReconcile extends BaseCommand {
  static override summary = 'Compare the obligation ledger with the recovered database, and repeat what is missing'
  static override description =
    'Without --apply it only prints the plan. With --apply it places holds, adds and removes operators, revokes tokens and purges workspaces again; a second run then finds nothing to do. Exits 8 while something is left to do or to decide.'
  static override examples = ['<%= config.bin %> recovery reconcile', '<%= config.bin %> recovery reconcile --apply']
  static override flags = {
    apply: Flags.boolean({ summary: 'Carry out the plan; the gate must be closed.' }),
    ...ledgerFlag,
  }

  async run(): Promise<Reconciliation> {
    const { flags } = await this.parse(RecoveryReconcile)
    const answer = await withInstallation(this.note, async (installation, actor): Promise<Reconciliation> => {
      const { planReconciliation, readLedgers } = await import('../../../core/areas/recovery/reconcile.ts')
      const recoveryPoint = flags.apply ? await demandBegun(installation) : undefined
      const { desired, faults } = await readLedgers(installation, { others: flags.ledger ?? [] })
      for (const { file, fault } of faults) this.note(`${file}: ${fault}. The lines after that are ignored.`)
      const plan = await planReconciliation(installation, desired)
      if (recoveryPoint === undefined)
        return {
          applied: false,
          steps: plan.filter(({ hindered_by }) => hindered_by === null),
          hindered: plan.filter(({ hindered_by }) => hindered_by !== null),
        }
      const { repeatSteps } = await import('../../../core/areas/recovery/apply.ts')
      const { done, hindered } = await repeatSteps({ installation, actor, desired, recoveryPoint }, plan)
      return { applied: true, steps: done, hindered }
    })
    const { applied, steps, hindered } = answer
    this.log(await stepTable([...steps, ...hindered], 'Nothing needs to be repeated.'))
    if (applied) this.tell(`\n${steps.length} repeated, ${hindered.length} left to decide. Next: svc recovery check`)
    else if (steps.length > 0) this.tell('\nNext: svc recovery reconcile --apply')
    if (hindered.length > 0 || (!applied && steps.length > 0)) process.exitCode = exitCodes.findings
    return answer
  }
}
