import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { accountOperations, type Invited } from '../../../core/contract/identity/accounts.ts'
import { type Role, roles } from '../../../core/contract/vocabulary.ts'
import { CallerCommand } from '../../base-command.ts'
import { placeOf } from '../../input/place.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { drawnInvitation, nextOf } from '../../render/invitation.ts'

export default class AccountsInvite extends CallerCommand {
  static override summary = 'Invite somebody to your workspace'
  static override description =
    'The invitation goes by mail. With --token or --token-file it is a token, shown once, that you hand over; nothing is mailed then. A guest has --role none and roles in containers.'
  static override examples = [
    '<%= config.bin %> accounts invite charles@acme.example',
    '<%= config.bin %> accounts invite charles@acme.example --name "Charles Babbage" --role ADMIN',
    '<%= config.bin %> accounts invite guest@else.example --role none --container 0190c9d2-7a3b-7cde-8f01-23456789abcd=VIEWER --token-file guest.token',
  ]
  static override args = {
    address: Args.string({ ignoreStdin: true, required: true, description: 'the e-mail address' }),
  }
  static override flags = {
    name: Flags.string({ summary: 'The name that people see.' }),
    role: Flags.string({ summary: 'The role on the workspace.', options: [...roles, 'none'], default: 'MEMBER' }),
    container: Flags.string({
      summary: 'A role in a container. Give it once for each.',
      helpValue: 'ID=ROLE',
      multiple: true,
    }),
    group: Flags.string({ summary: 'A group to be in. Give it once for each.', helpValue: 'ID', multiple: true }),
    'external-id': Flags.string({ summary: 'What a directory calls the account.', helpValue: 'ID' }),
    token: Flags.boolean({ summary: 'Show the token once, and mail nothing.' }),
    'token-file': tokenFileFlag('the invitation token, and mail nothing'),
  }

  async run(): Promise<Invited> {
    const { args, flags } = await this.parse(AccountsInvite)
    const caller = await this.open(flags)
    const file = flags['token-file']
    const body = {
      email: args.address,
      role: flags.role === 'none' ? null : (flags.role as Role),
      memberships: (flags.container ?? []).map(placeOf),
      group_ids: flags.group ?? [],
      deliver: flags.token || file !== undefined ? ('TOKEN' as const) : ('MAIL' as const),
      ...(flags.name === undefined ? {} : { display_name: flags.name }),
      ...(flags['external-id'] === undefined ? {} : { external_id: flags['external-id'] }),
    }
    const idempotencyKey = randomUUID()
    const call = () => caller.call(accountOperations.inviteAccount, { body, idempotencyKey })
    const invited =
      body.deliver === 'MAIL'
        ? await call()
        : await keepingToken(file, ({ redemption_token }) => redemption_token ?? '', call)
    await this.show(() => drawnInvitation(invited, file))
    this.tell(nextOf(invited, file))
    return withTokenFile(invited, 'redemption_token', file)
  }
}
