import { Flags } from '@oclif/core'
import {
  type Account,
  type AccountState,
  accountOperations,
  accountStates,
} from '../../../core/contract/identity/accounts.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { ofWorkspace, workspaceFor } from '../../find/accounts.ts'
import { groupIdOf } from '../../find/groups.ts'
import { accountColumns } from '../../render/account.ts'
import { table } from '../../render/table.ts'

export default class AccountsList extends CallerCommand {
  static override summary = 'List the accounts of your workspace, oldest first'
  static override description =
    'With --find in the order of the word found. Directly on the database, name the workspace with --workspace.'
  static override examples = [
    '<%= config.bin %> accounts list',
    '<%= config.bin %> accounts list --find ada --state INVITED',
    '<%= config.bin %> accounts list --external-id hr-1815 --json',
    '<%= config.bin %> accounts list --group Design',
    '<%= config.bin %> accounts list --workspace acme --recovery',
  ]
  static override flags = {
    find: Flags.string({
      summary: 'Only accounts with a word of the name or address that begins so.',
      helpValue: 'WORD',
    }),
    state: Flags.string({ summary: 'Only accounts in this state.', options: accountStates }),
    kind: Flags.string({ summary: 'Only people, or only service accounts.', options: ['PERSON', 'SERVICE'] as const }),
    'external-id': Flags.string({ summary: 'Only the account that a directory calls so.', helpValue: 'ID' }),
    container: Flags.string({ summary: 'Only accounts that see this container.', helpValue: 'ID' }),
    group: Flags.string({
      summary: 'Only members of this group; directly on the database its id.',
      helpValue: 'GROUP',
    }),
    max: Flags.integer({ summary: 'The maximum number of accounts.', min: 1, default: 200 }),
    ...ofWorkspace,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(AccountsList)
    const caller = await this.open(flags)
    const query = {
      ...(flags.find === undefined ? {} : { q: flags.find }),
      ...(flags.state === undefined ? {} : { state: flags.state as AccountState }),
      ...(flags.kind === undefined ? {} : { kind: flags.kind as Account['kind'] }),
      ...(flags['external-id'] === undefined ? {} : { external_id: flags['external-id'] }),
      ...(flags.container === undefined ? {} : { container_id: flags.container }),
      ...(flags.group === undefined ? {} : { group_id: await groupIdOf(caller, flags.group) }),
      ...workspaceFor(caller, flags.workspace),
      size: Math.min(flags.max, 200),
    }
    const found: Account[] = []
    for await (const page of pagesOf(caller, accountOperations.listAccounts, query)) {
      found.push(...page.data)
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, accountColumns, 'No account is like that.'))
    return { data }
  }
}
