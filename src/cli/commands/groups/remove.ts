import { groupOperations } from '../../../core/contract/groups/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { accountArgument, accountIdOf, findGroup, groupArgument } from '../../find/groups.ts'

export default class GroupsRemove extends CallerCommand {
  static override summary = 'Take an account out of a group'
  static override description =
    'What the group gave the account ends with its next request. An account that has no other role is signed out everywhere.'
  static override examples = [
    '<%= config.bin %> groups remove Design betty@acme.example',
    '<%= config.bin %> groups remove Design 0190c9d2-7a3b-7cde-8f01-23456789abcd',
  ]
  static override args = { group: groupArgument, account: accountArgument }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GroupsRemove)
    const caller = await this.open(flags)
    const group = await findGroup(caller, args.group)
    const accountId = await accountIdOf(caller, args.account)
    await caller.call(groupOperations.removeGroupMember, { groupId: group.id, accountId })
    this.tell(`${args.account} is not in ${group.name}.`)
  }
}
