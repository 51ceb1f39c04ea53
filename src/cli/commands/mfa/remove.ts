import { Flags } from '@oclif/core'
import { identityOperations } from '../../../core/contract/identity/operations.ts'
import { secondFactorOperations } from '../../../core/contract/second-factor/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'
import { toldByMail } from '../../follow/mail-place.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class MfaRemove extends CallerCommand {
  static override summary = 'Remove a second factor: your own, or that of somebody who lost it'
  static override description =
    'An administrator names an address of the workspace (--email); the operator at the database names the workspace as well (--recovery). ' +
    'The account is told by mail. Where a second factor is demanded it has to enrol anew.'
  static override examples = [
    '<%= config.bin %> mfa remove',
    '<%= config.bin %> mfa remove --email ada@acme.example',
    '<%= config.bin %> mfa remove --recovery --workspace acme --email ada@acme.example --confirm ada@acme.example',
  ]
  static override flags = {
    email: Flags.string({ summary: "The account's address; your own account where absent.", helpValue: 'ADDRESS' }),
    workspace: Flags.string({ summary: "Its workspace's slug; with --recovery.", helpValue: 'SLUG' }),
    confirm: Flags.string({ summary: 'The address, instead of typing it.', helpValue: 'ADDRESS' }),
    ...proofFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MfaRemove)
    const caller = await this.open(flags)
    const { email, workspace } = flags
    if (caller.way === 'database' && (email === undefined || workspace === undefined))
      throw new Failure('usage', 'At the database nobody is signed in.', 'Give --workspace and --email.')
    const address = email ?? (await ownAddress(caller))
    await confirmByName(
      address,
      `Then the password alone signs ${address} in, and its recovery codes are void.`,
      flags.confirm,
    )
    await this.callProven(caller, secondFactorOperations.disableSecondFactor, { body: { email, workspace } }, flags)
    this.tell(`${address} has no second factor any more. ${toldByMail(caller, 'The account is')}`)
    return { email: address, second_factor: null }
  }
}

const ownAddress = async (caller: Caller) => (await caller.call(identityOperations.getOwnAccount, {})).email ?? 'me'
