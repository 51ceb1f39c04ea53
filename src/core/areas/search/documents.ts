/** Writing documents: the words of what has an id, in one generation or several. Spec: Work on boards, 2, N4. */
import type { SearchKind } from '../../contract/search/kinds.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { mapInBreaths } from './breath.ts'
import type { Named } from './kind.ts'
import { kindsOfDocuments } from './kinds.ts'
import { readStems } from './stems.ts'
import { placed, vectorOf } from './vector.ts'

export interface Generation {
  readonly generation: string
  readonly language: string
}

/**
 * Writes the documents of these ids anew, and removes those of what is gone. Whoever calls it holds the workspace's lock of
 * the index, so that no older text is written over a newer one.
 */
export async function writeDocuments(
  tx: Tx,
  tenantId: string,
  generations: readonly Generation[],
  { kind, ids }: { readonly kind: SearchKind; readonly ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0 || generations.length === 0) return
  const list = tx.part`select jsonb_array_elements_text(${tx.json(ids)})::uuid as id`
  const { follow, named } = kindsOfDocuments[kind]
  const numbers = tx.list(generations.map(({ generation }) => generation))
  if (follow) {
    const written = tx.part`
      select g.generation, w.id from search_index g cross join (${list}) w
      where g.tenant_id = ${tenantId} and g.generation in ${numbers}`
    void tx`${follow(tx, tenantId, written)}`
  }
  // One by one by their ids: how many there are, PostgreSQL cannot know when it plans (docs/decisions/0522).
  const found = await tx<Named[]>`
    select n.* from (${list}) w cross join lateral (${named(tx, tenantId, tx.part`w.id`)} offset 0) n`
  for (const some of inPortions(found)) await writeSome(tx, tenantId, generations, { kind, found: some })
  const there = new Set(found.map(({ id }) => id))
  const gone = ids.filter((id) => !there.has(id))
  if (gone.length > 0)
    void tx`
      delete from search_document
      where tenant_id = ${tenantId} and generation in ${numbers} and kind = ${kind}
        and id in (select jsonb_array_elements_text(${tx.json(gone)})::uuid)`
}

/** Characters whose words are looked up and written by one statement. */
const charactersAtOnce = 400_000

function inPortions(found: readonly Named[]): Named[][] {
  const portions: Named[][] = []
  let room = 0
  for (const one of found) {
    const characters = one.texts.reduce((sum, { text }) => sum + text.length, 0)
    if (room < characters || portions.length === 0) {
      portions.push([])
      room = charactersAtOnce
    }
    portions.at(-1)?.push(one)
    room -= characters
  }
  return portions
}

async function writeSome(
  tx: Tx,
  tenantId: string,
  generations: readonly Generation[],
  { kind, found }: { readonly kind: SearchKind; readonly found: readonly Named[] },
): Promise<void> {
  const words = await mapInBreaths(found, ({ texts }) => placed(texts))
  const distinct = [...new Set(words.flatMap((one) => one.map(({ word }) => word)))]
  for (const { generation, language } of generations) {
    const stems = await readStems(tx, language, distinct)
    const rows = await mapInBreaths([...found.entries()], ([n, { id, container_id, changed_at }]) => ({
      ...{ tenant_id: tenantId, generation, kind, id, container_id, changed_at },
      words: tx.part`${vectorOf(generation, words[n] ?? [], stems)}::tsvector`,
    }))
    await tx`
      insert into search_document
      ${tx.rows(rows, 'tenant_id', 'generation', 'kind', 'id', 'container_id', 'changed_at', 'words')}
      on conflict (tenant_id, generation, kind, id)
      do update set container_id = excluded.container_id, changed_at = excluded.changed_at, words = excluded.words`
  }
}
