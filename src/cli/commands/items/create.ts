import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { itemOperations } from '../../../core/contract/items/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findCollection } from '../../find/containers.ts'
import { itemDetails } from '../../render/item.ts'

export default class ItemsCreate extends CallerCommand {
  static override summary = 'Create an item in a collection'
  static override examples = [
    "<%= config.bin %> items create 'Write the report' --collection Roadmap",
    "<%= config.bin %> items create 'Order paint' --collection Roadmap --due 2030-05-02T10:00:00Z --json",
  ]
  static override args = { title: Args.string({ ignoreStdin: true, required: true, description: 'its title' }) }
  static override flags = {
    collection: Flags.string({ summary: "The collection's name or id.", required: true }),
    bucket: Flags.string({ summary: "The bucket's id; absent: the leftmost." }),
    description: Flags.string({ summary: 'Its description.' }),
    due: Flags.string({ summary: 'The moment when it is due, ISO 8601.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ItemsCreate)
    const caller = await this.open(flags)
    const body = {
      title: args.title,
      container_id: await findCollection(caller, flags.collection),
      ...(flags.bucket === undefined ? {} : { bucket_id: flags.bucket }),
      ...(flags.description === undefined ? {} : { description: flags.description }),
      ...(flags.due === undefined ? {} : { due_at: flags.due }),
    }
    const item = await caller.call(itemOperations.createItem, { body, idempotencyKey: randomUUID() })
    await this.show(() => itemDetails(item))
    return item
  }
}
