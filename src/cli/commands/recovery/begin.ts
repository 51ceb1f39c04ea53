import { Flags } from '@oclif/core'
import type { GateState } from '../../../core/areas/recovery/gate.ts'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../call/recovery-installation.ts'
import { agreeWhileServing } from '../../call/while-serving.ts'
import { Failure } from '../../failure.ts'
import { gateDetails } from '../../render/gate.ts'

export default class RecoveryBegin extends BaseCommand {
  static override summary = 'Close the gate after the database was recovered to an earlier moment'
  static override description =
    'Workspaces are refused from now on (503 installation.recovering), operators are served, and workers hold every job. Running it twice is safe.'
  static override examples = ['<%= config.bin %> recovery begin --recovery-point 2026-11-20T11:30:00Z']
  static override flags = {
    'recovery-point': Flags.string({
      summary: 'The moment the database was recovered to, as RFC 3339.',
      required: true,
      helpValue: 'MOMENT',
    }),
    'while-serving': Flags.boolean({ summary: 'Close the gate although a daemon serves workspaces.' }),
  }

  async run(): Promise<GateState> {
    const { flags } = await this.parse(RecoveryBegin)
    const recoveryPoint = readMoment(flags['recovery-point'])
    const state = await withInstallation(this.note, async (installation, actor) => {
      const { closeGate } = await import('../../../core/areas/recovery/gate.ts')
      await agreeWhileServing(installation, {
        isMeant: flags['while-serving'],
        effect: 'It refuses every workspace from now on.',
        remedy: 'Stop it, or add --while-serving: it refuses every workspace from then on.',
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
    throw new Failure('usage', `"${text}" is no moment.`, 'Write it with its zone, such as 2026-11-20T11:30:00Z.')
  if (at > Date.now()) throw new Failure('usage', 'The recovery point is still to come.')
  return new Date(at).toISOString()
}
