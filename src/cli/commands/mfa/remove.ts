import { Flags } from '@oclif/core'
import { identityOperations } from '../../../core/contract/identity/operations.ts'
import { secondFactorOperations } from '../../../core/contract/second-factor/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'
import { mailNotice } from '../../follow/mail-place.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class MfaRemove extends CallerCommand {
  static override summary = 'Remove a second factor: your own, or that of an account that has lost it'
  static override description =
    'An administrator gives an address or a sign-in name of the workspace (--email). An operator at the database (--recovery) also gives the workspace. ' +
    'The account gets a mail. If a second factor is required, the account must enrol again.'
  static override examples = [
    '<%= config.bin %> mfa remove',
    '<%= config.bin %> mfa remove --email ada@acme.example',
    '<%= config.bin %> mfa remove --email bench-3',
    '<%= config.bin %> mfa remove --recovery --workspace acme --email ada@acme.example --confirm ada@acme.example',
  ]
  static override flags = {
    email: Flags.string({
      summary: "The account's address or sign-in name; default: your own account.",
      helpValue: 'ADDRESS',
    }),
    workspace: Flags.string({
      summary: "The slug of the account's workspace; only with --recovery.",
      helpValue: 'SLUG',
    }),
    confirm: Flags.string({
      summary: 'Confirm without a prompt: the address or sign-in name of the account.',
      helpValue: 'ADDRESS',
    }),
    ...proofFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MfaRemove)
    const caller = await this.open(flags)
    const { email, workspace } = flags
    if (caller.way === 'database' && (email === undefined || workspace === undefined))
      throw new Failure(
        'usage',
        'Directly on the database there is no signed-in account.',
        'Give --workspace and --email.',
      )
    const address = email ?? (await ownName(caller))
    await confirmByName(
      address,
      `${address} then signs in with the password alone, and its recovery codes stop working.`,
      flags.confirm,
    )
    await this.callProven(caller, secondFactorOperations.disableSecondFactor, { body: { email, workspace } }, flags)
    this.tell(`The second factor of ${address} is removed. ${mailNotice(caller, 'the account')}`)
    return { email: address, second_factor: null }
  }
}

async function ownName(caller: Caller): Promise<string> {
  const { email, sign_in_name: name } = await caller.call(identityOperations.getOwnAccount, {})
  return email ?? name ?? 'me'
}
