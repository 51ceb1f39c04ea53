import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { type Group, groupOperations } from '../../../core/contract/groups/operations.ts'
import { CallerCommand } from '../../base-command.ts'

export default class GroupsCreate extends CallerCommand {
  static override summary = 'Make a group'
  static override description =
    'A group has no role until it is given one: `svc api POST /memberships` with its `group_id`.'
  static override examples = [
    '<%= config.bin %> groups create Design',
    "<%= config.bin %> groups create Design --description 'Whoever draws' --member 0190c9d2-7a3b-7cde-8f01-23456789abcd",
  ]
  static override args = { name: Args.string({ ignoreStdin: true, required: true, description: 'its name' }) }
  static override flags = {
    description: Flags.string({ summary: 'What it is for.' }),
    member: Flags.string({ summary: 'The id of an account that is in it from the beginning.', multiple: true }),
  }

  async run(): Promise<Group> {
    const { args, flags } = await this.parse(GroupsCreate)
    const caller = await this.open(flags)
    const body = {
      name: args.name,
      ...(flags.description === undefined ? {} : { description: flags.description }),
      ...(flags.member === undefined ? {} : { member_ids: flags.member }),
    }
    const group = await caller.call(groupOperations.createGroup, { body, idempotencyKey: randomUUID() })
    await this.show(() => `${group.name} is a group of ${group.member_count}, with the id ${group.id}.`)
    return group
  }
}
