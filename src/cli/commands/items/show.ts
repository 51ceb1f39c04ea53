import { Args } from '@oclif/core'
import { itemOperations } from '../../../core/contract/items/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { itemDetails } from '../../render/item.ts'

export default class ItemsShow extends CallerCommand {
  static override summary = 'Show one item'
  static override examples = ['<%= config.bin %> items show 0199c0de-7a3b-7cde-8f01-23456789abcd']
  static override args = { item: Args.string({ ignoreStdin: true, required: true, description: "the item's id" }) }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ItemsShow)
    const item = await (await this.open(flags)).call(itemOperations.getItem, { itemId: args.item })
    await this.show(() => itemDetails(item))
    return item
  }
}
