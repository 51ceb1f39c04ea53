import { type Group, type GroupMember, groupOperations } from '../../../core/contract/groups/operations.ts'
import { type Membership, membershipOperations } from '../../../core/contract/memberships/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findGroup, groupArgument } from '../../find/groups.ts'
import { details } from '../../render/details.ts'
import { day, moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

interface Shown {
  readonly group: Group
  readonly roles: readonly Membership[]
  readonly members: readonly GroupMember[]
}

const roleColumns: readonly Column<Membership>[] = [
  { head: 'ROLE', cell: ({ role }) => role, whole: true },
  { head: 'IN', cell: ({ container_id }) => container_id ?? 'the workspace', whole: true },
]
const memberColumns: readonly Column<GroupMember>[] = [
  { head: 'MEMBER', cell: ({ account_id }) => account_id, whole: true },
  { head: 'SINCE', cell: ({ added_at }) => day(added_at) },
  { head: 'BY', cell: ({ source }) => source, whole: true },
]

export default class GroupsShow extends CallerCommand {
  static override summary = 'Show a group: its roles, and who is in it'
  static override examples = ['<%= config.bin %> groups show Design', '<%= config.bin %> groups show Design --json']
  static override args = { group: groupArgument }

  async run(): Promise<Shown> {
    const { args, flags } = await this.parse(GroupsShow)
    const caller = await this.open(flags)
    const group = await findGroup(caller, args.group)
    const roles: Membership[] = []
    const members: GroupMember[] = []
    for await (const page of pagesOf(caller, membershipOperations.listMemberships, { size: 200, group_id: group.id }))
      roles.push(...page.data)
    for await (const page of pagesOf(caller, groupOperations.listGroupMembers, { size: 200, groupId: group.id }))
      members.push(...page.data)
    await this.show(async () =>
      (
        await Promise.all([
          shown(group),
          table(roles, roleColumns, 'It has no role: `svc api POST /memberships` gives one.'),
          table(members, memberColumns, 'Nobody is in it.'),
        ])
      ).join('\n\n'),
    )
    return { group, roles, members }
  }
}

const shown = ({ id, name, description, external_id, binding, created_at }: Group) =>
  details([
    ['group', name],
    ['description', description],
    ['follows', binding && `${binding.value} of provider ${binding.provider_id}`],
    ['in the directory', external_id],
    ['made', moment(created_at)],
    ['id', id],
  ])
