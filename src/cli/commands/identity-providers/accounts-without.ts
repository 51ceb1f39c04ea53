import { Flags } from '@oclif/core'
import type { Answer } from '../../../core/contract/operation.ts'
import { providerOperations } from '../../../core/contract/providers/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Column, table } from '../../render/table.ts'

type Row = Answer<typeof providerOperations.listAccountsWithoutProvider>['data'][number]

const columns: readonly Column<Row>[] = [
  { head: 'ADDRESS', cell: ({ email }) => email ?? '', whole: true },
  { head: 'NAME', cell: ({ display_name }) => display_name ?? '' },
  { head: 'ROLE', cell: ({ role }) => role ?? 'guest', whole: true },
  { head: 'PASSWORD', cell: ({ has_password }) => (has_password ? 'yes' : 'no') },
]

export default class IdentityProvidersAccountsWithout extends CallerCommand {
  static override summary = 'List the accounts of your workspace that no identity provider signs in'
  static override examples = ['<%= config.bin %> identity-providers accounts-without']
  static override flags = {
    cursor: Flags.string({ summary: 'Continue after the previous page.', helpValue: 'CURSOR' }),
    size: Flags.integer({ summary: 'The number of accounts on a page.', min: 1, max: 200, default: 50 }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(IdentityProvidersAccountsWithout)
    const caller = await this.open(flags)
    const answer = await caller.call(providerOperations.listAccountsWithoutProvider, {
      size: flags.size,
      ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
    })
    await this.show(() => table(answer.data, columns, 'Every account is connected with a provider that is on.'))
    if (answer.next_cursor !== null)
      this.tell(`More: svc identity-providers accounts-without --cursor ${answer.next_cursor}`)
    return answer
  }
}
