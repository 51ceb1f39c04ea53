import { Args } from '@oclif/core'
import type { Account } from '../../../core/contract/identity/accounts.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArg, findAccount, ofWorkspace } from '../../find/accounts.ts'
import { drawnAccount } from '../../render/account.ts'

export default class AccountsShow extends CallerCommand {
  static override summary = 'Show one account'
  static override description = 'Administrators also see how it signs in, when it was last seen and its open items.'
  static override examples = [
    '<%= config.bin %> accounts show ada@acme.example',
    '<%= config.bin %> accounts show ada@acme.example --workspace acme --recovery',
  ]
  static override args = { account: Args.string({ ignoreStdin: true, required: true, description: accountArg }) }
  static override flags = { ...ofWorkspace }

  async run(): Promise<Account> {
    const { args, flags } = await this.parse(AccountsShow)
    const caller = await this.open(flags)
    const account = await findAccount(caller, args.account, flags.workspace)
    await this.show(() => drawnAccount(account))
    return account
  }
}
