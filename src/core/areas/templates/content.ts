/** Checks what a template holds, beyond its shape. Spec: items 7 and 12, Templates; docs/decisions/0226. */
import { isCapable } from '../../contract/item-types.ts'
import { refuseMember } from '../../contract/problem.ts'
import { mostContentBytes, mostVariables, type TemplateContent } from '../../contract/templates/content.ts'
import type { Template } from '../../contract/templates/operations.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'
import { checkTrees } from './trees.ts'
import { variablesIn } from './variables.ts'

/** An item's dates are at most so many days from its start to its end, both counted (items/dates.ts). */
const longestSpanDays = 366

/** The variables of the content. `pointer`: the member that it came in. Refuses request.invalid, item.circular, item.tree_full. */
export function checkContent(kind: Template['kind'], content: TemplateContent, pointer: string): Template['variables'] {
  const bytes = Buffer.byteLength(JSON.stringify(content))
  if (bytes > mostContentBytes) refuseMember(pointer, 'value.maximum', { maximum: mostContentBytes })
  if (kind === 'ITEM') refuseBoard(content, pointer)
  refuseTwice(content.buckets, ({ name }) => caseFold(name), `${pointer}/buckets`, 'name')
  refuseTwice(content.labels, ({ name }) => caseFold(name), `${pointer}/labels`, 'name')
  refuseTwice(content.fields, ({ key }) => key, `${pointer}/fields`, 'key')
  for (const [at, field] of content.fields.entries()) checkField(field, `${pointer}/fields/${at}`)
  for (const [at, item] of content.items.entries()) checkDates(item, `${pointer}/items/${at}`)
  checkTrees(content.items, `${pointer}/items`)
  const variables = variablesIn(content)
  if (variables.length > mostVariables) refuseMember(pointer, 'list.maximum', { maximum: mostVariables })
  return variables
}

function refuseBoard({ buckets, labels, fields, items }: TemplateContent, pointer: string): void {
  for (const [name, list] of Object.entries({ buckets, labels, fields }))
    if (list.length > 0) refuseMember(`${pointer}/${name}`, 'value.not_taken')
  if (items.length < 1) refuseMember(`${pointer}/items`, 'list.minimum', { minimum: 1 })
  if (items[0]?.parent != null) refuseMember(`${pointer}/items/0/parent`, 'value.not_taken')
  const root = items.findIndex(({ parent }, at) => at > 0 && parent == null)
  if (root > 0) refuseMember(`${pointer}/items/${root}/parent`, 'member.required')
}

function refuseTwice<One>(list: readonly One[], by: (one: One) => string, pointer: string, member: string): void {
  const names = list.map(by)
  const twice = names.findIndex((name, at) => names.indexOf(name) < at)
  if (twice >= 0) refuseMember(`${pointer}/${twice}/${member}`, 'list.unique')
}

/** What the definition of a custom field is refused for is refused here, before it is needed. */
function checkField({ kind, options, applies_to }: TemplateContent['fields'][number], pointer: string): void {
  const takesOptions = kind === 'SELECT' || kind === 'MULTI_SELECT'
  if (!takesOptions && options) refuseMember(`${pointer}/options`, 'value.not_taken')
  if (takesOptions && !options?.length) refuseMember(`${pointer}/options`, 'list.minimum', { minimum: 1 })
  if (options && new Set(options).size < options.length) refuseMember(`${pointer}/options`, 'list.unique')
  if (new Set(applies_to).size < applies_to.length) refuseMember(`${pointer}/applies_to`, 'list.unique')
  const wrong = applies_to.findIndex((type) => !isCapable(type, 'CUSTOM_FIELDS'))
  if (wrong >= 0) refuseMember(`${pointer}/applies_to/${wrong}`, 'value.not_taken')
}

function checkDates(
  { start_in_days: start, due_in_days: due }: TemplateContent['items'][number],
  pointer: string,
): void {
  if (start === undefined || start === null) return
  if (due === undefined || due === null) refuseMember(`${pointer}/due_in_days`, 'member.required')
  if (start > due) refuseMember(`${pointer}/start_in_days`, 'value.maximum', { maximum: due })
  const first = due - longestSpanDays + 1
  if (start < first) refuseMember(`${pointer}/start_in_days`, 'value.minimum', { minimum: first })
}
