import { randomUUID } from 'node:crypto'
import { Args } from '@oclif/core'
import { managedOperations } from '../../../core/contract/identity/managed.ts'
import type { Answer } from '../../../core/contract/operation.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArg, findAccount, ofWorkspace } from '../../find/accounts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { afterStartPassword, drawnStartPassword } from '../../render/start-password.ts'

export default class AccountsStartPassword extends CallerCommand {
  static override summary = 'Give an account without an address a start password'
  static override description =
    'Its password, sessions and tokens end with this call; its second factor stays. The start password opens no session: it is replaced at the first sign-in. At the database any account gets one. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> accounts start-password workshop-3',
    '<%= config.bin %> accounts start-password workshop-3 --token-file workshop-3.password --password-file me.password',
    '<%= config.bin %> accounts start-password ada@acme.example --workspace acme --recovery',
  ]
  static override args = { account: Args.string({ ignoreStdin: true, required: true, description: accountArg }) }
  static override flags = { 'token-file': tokenFileFlag('the start password'), ...ofWorkspace, ...proofFlags }

  async run(): Promise<Answer<typeof managedOperations.issueStartPassword>> {
    const { args, flags } = await this.parse(AccountsStartPassword)
    const caller = await this.open(flags)
    const file = flags['token-file']
    const { id: accountId } = await findAccount(caller, args.account, flags.workspace)
    const sent = { accountId, ...(caller.way === 'api' ? { idempotencyKey: randomUUID() } : {}) }
    const issued = await keepingToken(
      file,
      ({ start_password }) => start_password,
      () => this.callProven(caller, managedOperations.issueStartPassword, sent, flags),
    )
    const { sign_in_name: name, start_password: startPassword, expires_at: expiresAt } = issued
    await this.show(() => drawnStartPassword({ id: accountId, name, startPassword, expiresAt }, file))
    this.tell(afterStartPassword(name, file))
    return withTokenFile(issued, 'start_password', file) as typeof issued
  }
}
