import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { accountOperations, type Invited } from '../../../core/contract/identity/accounts.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArg, findAccount, ofWorkspace } from '../../find/accounts.ts'
import { isId } from '../../find/pick.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { drawnInvitation, nextOf } from '../../render/invitation.ts'

export default class AccountsRenewInvitation extends CallerCommand {
  static override summary = 'Invite somebody anew who has not joined yet'
  static override description =
    'The invitation before is void. It goes by mail, or with --token or --token-file it is a token that you hand over. An operator renews the invitation of an owner by its id, while the workspace has no active owner.'
  static override examples = [
    '<%= config.bin %> accounts renew-invitation charles@acme.example',
    '<%= config.bin %> accounts renew-invitation ada@acme.example --workspace acme --token-file ada.token --recovery',
  ]
  static override args = { account: Args.string({ ignoreStdin: true, required: true, description: accountArg }) }
  static override flags = {
    token: Flags.boolean({ summary: 'Show the token once, and mail nothing.' }),
    'token-file': tokenFileFlag('the invitation token, and mail nothing'),
    ...ofWorkspace,
  }

  async run(): Promise<Invited> {
    const { args, flags } = await this.parse(AccountsRenewInvitation)
    const caller = await this.open(flags)
    const file = flags['token-file']
    const deliver = flags.token || file !== undefined ? ('TOKEN' as const) : ('MAIL' as const)
    const accountId = await idOf(caller, args.account, flags.workspace)
    const sent = { accountId, body: { deliver }, ...(caller.way === 'api' ? { idempotencyKey: randomUUID() } : {}) }
    const call = () => caller.call(accountOperations.renewInvitation, sent)
    const invited =
      deliver === 'MAIL'
        ? await call()
        : await keepingToken(file, ({ redemption_token }) => redemption_token ?? '', call)
    await this.show(() => drawnInvitation(invited, file))
    this.tell(nextOf(invited, file))
    return withTokenFile(invited, 'redemption_token', file)
  }
}

/** An operator does not see the accounts of other workspaces, and names the id. */
const idOf = async (...[caller, name, workspace]: Parameters<typeof findAccount>) =>
  isId(name) ? name.toLowerCase() : (await findAccount(caller, name, workspace)).id
