import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { type TemplateApplied, templateOperations } from '../../../core/contract/templates/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { exitCodes, Failure } from '../../failure.ts'
import { findCollection } from '../../find/containers.ts'
import { findTemplate } from '../../find/templates.ts'
import { details } from '../../render/details.ts'
import { itemDetails } from '../../render/item.ts'
import { printable } from '../../render/printable.ts'

export default class TemplatesApply extends CallerCommand {
  static override summary = 'Make an item, or a board with its items, from a template'
  static override examples = [
    "<%= config.bin %> templates apply 'Weekly report' --collection Roadmap --value week=32",
    "<%= config.bin %> templates apply 'New customer' --hub 0199c0de-7a3b-7cde-8f01-23456789abcd --name Acme --anchor 2030-05-02 --json",
  ]
  static override args = {
    template: Args.string({ ignoreStdin: true, required: true, description: "the template's name or id" }),
  }
  static override flags = {
    collection: Flags.string({ summary: 'Of an item: the collection that it goes to, by its name or id.' }),
    hub: Flags.string({ summary: 'Of a board: the hub that it goes to, by its id.' }),
    name: Flags.string({ summary: 'Of a board: the name of the new collection.' }),
    value: Flags.string({
      summary: 'The value of a variable; may be given several times.',
      helpValue: 'KEY=TEXT',
      multiple: true,
      multipleNonGreedy: true,
    }),
    anchor: Flags.string({ summary: 'Day 0 of the dates; absent: today.', helpValue: 'YYYY-MM-DD' }),
  }

  async run(): Promise<TemplateApplied> {
    const { args, flags } = await this.parse(TemplatesApply)
    const values = Object.fromEntries((flags.value ?? []).map(pairOf))
    const caller = await this.open(flags)
    const { id } = await findTemplate(caller, args.template)
    const body = {
      values,
      ...(flags.collection === undefined ? {} : { container_id: await findCollection(caller, flags.collection) }),
      ...(flags.hub === undefined ? {} : { parent_id: flags.hub }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags.anchor === undefined ? {} : { anchor_on: flags.anchor }),
    }
    const sent = { templateId: id, body, idempotencyKey: randomUUID() }
    const made = await caller.call(templateOperations.applyTemplate, sent)
    if (made.left_out.length > 0) {
      process.exitCode = exitCodes.findings
      for (const { pointer, code } of made.left_out) this.tell(`left out: ${printable(pointer)} (${code})`)
    }
    await this.show(() => shown(made))
    return made
  }
}

function shown({ item, container }: TemplateApplied): string {
  if (item) return itemDetails(item)
  return details([
    ['collection', container?.name],
    ['hub', container?.parent_id],
    ['id', container?.id],
  ])
}

/** Fails (usage) for what has no `=`. */
function pairOf(given: string): [string, string] {
  const at = given.indexOf('=')
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)]
  throw new Failure('usage', `"${given}" is no value of a variable.`, 'Write it as KEY=TEXT.')
}
