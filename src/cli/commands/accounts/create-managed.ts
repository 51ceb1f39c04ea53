import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { managedOperations } from '../../../core/contract/identity/managed.ts'
import type { Answer } from '../../../core/contract/operation.ts'
import { type Role, roles } from '../../../core/contract/vocabulary.ts'
import { CallerCommand } from '../../base-command.ts'
import { placeOf } from '../../input/place.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { afterStartPassword, drawnStartPassword } from '../../render/start-password.ts'

export default class AccountsCreateManaged extends CallerCommand {
  static override summary = 'Create an account for somebody without an address'
  static override description =
    'The person signs in with the name, and with a start password that you hand over. It is replaced at the first sign-in.'
  static override examples = [
    '<%= config.bin %> accounts create-managed workshop-3 --name "Workshop, bench 3"',
    '<%= config.bin %> accounts create-managed workshop-3 --name "Workshop, bench 3" --role COMMENTER --token-file workshop-3.password',
  ]
  static override args = {
    'sign-in-name': Args.string({ ignoreStdin: true, required: true, description: 'what the person signs in with' }),
  }
  static override flags = {
    name: Flags.string({ summary: 'The name that people see.', required: true }),
    role: Flags.string({ summary: 'The role on the workspace.', options: [...roles, 'none'], default: 'MEMBER' }),
    container: Flags.string({
      summary: 'A role in a container. Give it once for each.',
      helpValue: 'ID=ROLE',
      multiple: true,
    }),
    group: Flags.string({ summary: 'A group to be in. Give it once for each.', helpValue: 'ID', multiple: true }),
    'external-id': Flags.string({ summary: 'What a directory calls the account.', helpValue: 'ID' }),
    'token-file': tokenFileFlag('the start password'),
  }

  async run(): Promise<Answer<typeof managedOperations.createManagedAccount>> {
    const { args, flags } = await this.parse(AccountsCreateManaged)
    const caller = await this.open(flags)
    const file = flags['token-file']
    const name = args['sign-in-name']
    const body = {
      sign_in_name: name,
      display_name: flags.name,
      role: flags.role === 'none' ? null : (flags.role as Role),
      memberships: (flags.container ?? []).map(placeOf),
      group_ids: flags.group ?? [],
      ...(flags['external-id'] === undefined ? {} : { external_id: flags['external-id'] }),
    }
    const idempotencyKey = randomUUID()
    const created = await keepingToken(
      file,
      ({ start_password }) => start_password,
      () => caller.call(managedOperations.createManagedAccount, { body, idempotencyKey }),
    )
    const { account, start_password: startPassword, expires_at: expiresAt } = created
    await this.show(() => drawnStartPassword({ id: account.id, name, startPassword, expiresAt }, file))
    this.tell(afterStartPassword(name, file))
    return withTokenFile(created, 'start_password', file) as typeof created
  }
}
