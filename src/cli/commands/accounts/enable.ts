import { Args } from '@oclif/core'
import { type Account, accountOperations } from '../../../core/contract/identity/accounts.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArg, calledBy, findAccount, ofWorkspace } from '../../find/accounts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class AccountsEnable extends CallerCommand {
  static override summary = 'Let a disabled account return'
  static override description =
    'It has the roles from before and signs in as before. Sessions and tokens from before stay ended. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> accounts enable charles@acme.example',
    '<%= config.bin %> accounts enable charles@acme.example --workspace acme --recovery',
  ]
  static override args = { account: Args.string({ ignoreStdin: true, required: true, description: accountArg }) }
  static override flags = { ...ofWorkspace, ...proofFlags }

  async run(): Promise<Account> {
    const { args, flags } = await this.parse(AccountsEnable)
    const caller = await this.open(flags)
    const account = await findAccount(caller, args.account, flags.workspace)
    const name = calledBy(account)
    const returned = await this.callProven(caller, accountOperations.enableAccount, { accountId: account.id }, flags)
    const did = account.state === 'DISABLED' ? 'may return' : 'was not disabled'
    const next = returned.state === 'INVITED' ? ' It has not joined yet and needs a new invitation.' : ''
    this.tell(`${name} ${did}.${next}`)
    return returned
  }
}
