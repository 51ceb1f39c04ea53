/**
 * What the members of schemas are, in words, for readers of the reference.
 *
 * A member means the same in every schema, so it stands here once, by its name. Where the name means something else in one
 * place, the key says which: the last steps of the path, such as `ResolvedQuotas.items` or `quotas.items`. The longest key
 * that fits counts; a description of the schema itself counts more. Only the document loads this.
 */
import { boardMeanings } from './boards.ts'
import { integratingMeanings } from './integrating.ts'
import { operatingMeanings } from './operating.ts'
import { peopleMeanings } from './people.ts'

export const meanings: ReadonlyMap<string, string> = new Map(
  [boardMeanings, peopleMeanings, integratingMeanings, operatingMeanings].flatMap((part) => Object.entries(part)),
)

/** The key that says what the member at the end of this path is; undefined: none does. */
export function keyOf(path: readonly string[]): string | undefined {
  for (let from = 0; from < path.length; from += 1) {
    const key = path.slice(from).join('.')
    if (meanings.has(key)) return key
  }
  return undefined
}
