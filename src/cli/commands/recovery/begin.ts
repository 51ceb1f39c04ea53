import { Flags } from '@oclif/core'
import type { GateState } from '../../../core/areas/recovery/gate.ts'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../call/recovery-installation.ts'
import { agreeWhileServing } from '../../call/while-serving.ts'
import { Failure } from '../../failure.ts'
import { gateDetails } from '../../render/gate.ts'

export default class RecoveryBegin extends BaseCommand {
  static override summary = 'Close the gate after the database was recovered to an earlier time'
  static override description =
    'From now on the daemon refuses workspaces (503 installation.recovering), serves operators, and runs no jobs. It is safe to run this again.'
  static override examples = ['<%= config.bin %> recovery begin --recovery-point 2026-11-20T11:30:00Z']
  static override flags = {
    'recovery-point': Flags.string({
      summary: 'The time to which the database was recovered, as RFC 3339.',
      required: true,
      helpValue: 'MOMENT',
    }),
    'while-serving': Flags.boolean({ summary: 'Close the gate even while a daemon serves workspaces.' }),
  }

  async run(): Promise<GateState> {
    const { flags } = await this.parse(RecoveryBegin)
    const recoveryPoint = readMoment(flags['recovery-point'])
    const state = await withInstallation(this.note, async (installation, actor) => {
      const { closeGate } = await import('../../../core/areas/recovery/gate.ts')
      await agreeWhileServing(installation, {
        isMeant: flags['while-serving'],
        effect: 'If you go on, it refuses every workspace from now on.',
        remedy: 'Stop it, or add --while-serving: it then refuses every workspace.',
        note: this.note,
      })
      return installation.transaction(actor, {}, (ctx) => closeGate(ctx, 'BEGUN', { recoveryPoint }))
    })
    this.log(gateDetails(state))
    this.tell('\nNext: svc recovery reconcile')
    return state
  }
}

function readMoment(text: string): string {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (Number.isNaN(at))
    throw new Failure('usage', `"${text}" is not a date with a time.`, 'Include the zone, as in 2026-11-20T11:30:00Z.')
  if (at > Date.now()) throw new Failure('usage', 'The recovery point is in the future.')
  return new Date(at).toISOString()
}
