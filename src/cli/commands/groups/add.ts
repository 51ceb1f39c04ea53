import { type GroupMember, groupOperations } from '../../../core/contract/groups/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArgument, accountIdOf, findGroup, groupArgument } from '../../find/groups.ts'

export default class GroupsAdd extends CallerCommand {
  static override summary = 'Put an account into a group'
  static override description =
    'The account has the roles of the group from its next request on. You must be able to grant each of them.'
  static override examples = [
    '<%= config.bin %> groups add Design betty@acme.example',
    '<%= config.bin %> groups add Design 0190c9d2-7a3b-7cde-8f01-23456789abcd',
  ]
  static override args = { group: groupArgument, account: accountArgument }

  async run(): Promise<GroupMember> {
    const { args, flags } = await this.parse(GroupsAdd)
    const caller = await this.open(flags)
    const group = await findGroup(caller, args.group)
    const accountId = await accountIdOf(caller, args.account)
    const member = await caller.call(groupOperations.addGroupMember, { groupId: group.id, accountId })
    this.tell(`${args.account} is in ${group.name}.`)
    return member
  }
}
