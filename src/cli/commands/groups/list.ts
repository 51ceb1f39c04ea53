import { Flags } from '@oclif/core'
import type { Group } from '../../../core/contract/groups/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { everyGroup } from '../../find/groups.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<Group>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'MEMBERS', cell: ({ member_count }) => `${member_count}`, whole: true },
  { head: 'DESCRIPTION', cell: ({ description }) => description ?? '' },
  { head: 'FOLLOWS', cell: ({ binding }) => binding?.value ?? '' },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class GroupsList extends CallerCommand {
  static override summary = 'List the groups of the workspace, by name'
  static override examples = [
    '<%= config.bin %> groups list',
    '<%= config.bin %> groups list --account 0190c9d2-7a3b-7cde-8f01-23456789abcd --json',
  ]
  static override flags = {
    account: Flags.string({ summary: 'Only groups that this account is a member of, by its id.' }),
  }

  async run(): Promise<{ data: Group[] }> {
    const { flags } = await this.parse(GroupsList)
    const caller = await this.open(flags)
    const data = await everyGroup(caller, flags.account === undefined ? {} : { account_id: flags.account })
    await this.show(() => table(data, columns, 'There is no group. `svc groups create NAME` makes one.'))
    return { data }
  }
}
