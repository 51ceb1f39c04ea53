/** Strikes names out of texts of others, those that were chosen. Spec: Keeping, 2, mentions found. */
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { strikeOut } from '../../erasure/mentions.ts'
import { part } from '../../erasure/rules.ts'
import { heldCopy } from '../../erasure/statement.ts'
import { heldIn, placeOf } from './place.ts'
import type { Sweeping } from './sweeping.ts'

/** Texts of one transaction. */
const portion = 20

/** Those from a place on; answers the place of the next ones, undefined behind the last. Then the names are forgotten. */
export async function strikeMentions(ctx: Ctx, sweeping: Sweeping, from: number): Promise<number | undefined> {
  const { tx } = ctx
  const { tenantId, id, names, choices } = sweeping
  const place = placeOf(sweeping)
  const ask = async <Row extends object>(statement: Part) => [...(await tx<Row[]>`${statement}`)]
  const some = names.length === 0 ? [] : choices.mentions.slice(from, from + portion)
  for (const mention of some)
    await strikeOut(ask, place, mention, names, async (rule, rows) => {
      const isHeld = heldIn(tx, sweeping)(rule) ?? part`false`
      await ask(heldCopy(place, id, rule, part`to_jsonb(x)`, part`${rows} and ${isHeld}`))
    })
  if (some.length === portion) return from + portion
  await tx`update erasure set names = '[]' where tenant_id = ${tenantId} and id = ${id}`
  return undefined
}
