import { Args, Flags } from '@oclif/core'
import { type Account, accountOperations } from '../../../core/contract/identity/accounts.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArg, calledBy, findAccount, ofWorkspace } from '../../find/accounts.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class AccountsDisable extends CallerCommand {
  static override summary = 'Disable an account: everything that lets it in ends at once'
  static override description =
    'Its sessions, tokens, proofs, links and its invitation end, and it cannot sign in. Its roles and items stay for a return: `accounts enable`. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> accounts disable charles@acme.example',
    '<%= config.bin %> accounts disable charles@acme.example --confirm charles@acme.example --password-file me.password',
    '<%= config.bin %> accounts disable charles@acme.example --workspace acme --recovery',
  ]
  static override args = { account: Args.string({ ignoreStdin: true, required: true, description: accountArg }) }
  static override flags = {
    confirm: Flags.string({
      summary: 'Confirm without a prompt: the address, or the name, of the account.',
      helpValue: 'NAME',
    }),
    ...ofWorkspace,
    ...proofFlags,
  }

  async run(): Promise<Account> {
    const { args, flags } = await this.parse(AccountsDisable)
    const caller = await this.open(flags)
    const account = await findAccount(caller, args.account, flags.workspace)
    const name = calledBy(account)
    if (account.state !== 'DISABLED')
      await confirmByName(name, `This ends every session and token of ${name} at once.`, flags.confirm)
    const ended = await this.callProven(caller, accountOperations.disableAccount, { accountId: account.id }, flags)
    this.tell(
      account.state === 'DISABLED'
        ? `${name} was disabled already.`
        : `${name} is disabled: nothing of the account lets anybody in any more.\nTo let it return: ${this.following(`accounts enable ${account.email ?? account.id}`, flags)}`,
    )
    return ended
  }
}
