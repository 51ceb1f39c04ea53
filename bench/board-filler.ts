/** Fills dozens of boards with hundreds of thousands of items, inside the database, and analyses the tables. */
import postgres from 'postgres'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import type { Ground } from './ground.ts'

export interface Boards {
  /** Each with its buckets, from the left. */
  readonly collections: readonly {
    readonly id: string
    readonly buckets: readonly string[]
    readonly labelId: string
  }[]
}

export interface BoardSize {
  readonly boards: number
  readonly buckets: number
  readonly itemsEach: number
  /** The items of the first board, where it has another number. */
  readonly itemsOfFirst?: number
}

/** Fills the ground's workspace. Every fourth item has the board's label, every fifth a value, every tenth is done. */
export async function fillBoards(
  ground: Ground,
  { boards, buckets, itemsEach, itemsOfFirst = itemsEach }: BoardSize,
): Promise<Boards> {
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  const { tenantId, collectionId, accountId } = ground
  try {
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica` // the rows agree because they are made of the same ids
      await tx`create temp table made_board on commit drop as select uuidv7() as id, uuidv7() as label_id, n, case n when 1 then ${itemsOfFirst} else ${itemsEach} end::int as items from generate_series(1, ${boards}) n`
      await tx`create temp table made_bucket on commit drop as select uuidv7() as id, b.id as container_id, at as n from made_board b, generate_series(0, ${buckets - 1}) at`
      await tx`
        insert into container (tenant_id, id, kind, parent_id, name, rank)
        select ${tenantId}, m.id, 'COLLECTION', c.parent_id, 'Board ' || n, 'b' || lpad(n::text, 2, '0')
        from made_board m, container c where c.id = ${collectionId}`
      await tx`
        insert into bucket (tenant_id, id, container_id, name, name_fold, rank, is_done_bucket)
        select ${tenantId}, id, container_id, 'Bucket ' || n, 'bucket ' || n, 'b' || lpad(n::text, 2, '0'), n = ${buckets - 1} from made_bucket`
      await tx`
        insert into label (tenant_id, id, container_id, name, name_fold, color_token)
        select ${tenantId}, label_id, id, 'Label', 'label', 'red' from made_board`
      const [field] = await tx`
        insert into custom_field (tenant_id, id, key, kind, is_required, applies_to)
        values (${tenantId}, uuidv7(), 'points', 'NUMBER', false, '["TASK"]') returning id`
      // Items go to the boards and their buckets in turn, as people fill them: neighbours by id are in different buckets.
      await tx`
        create temp table made_item on commit drop as
        select uuidv7() as id, k.container_id, k.id as bucket_id, b.label_id, at as n
        from made_board b cross join lateral generate_series(1, b.items) at
        join made_bucket k on k.container_id = b.id where k.n = at % ${buckets} order by at`
      await tx`
        insert into item (tenant_id, id, container_id, bucket_id, type, title, description, state, completed_at, rank, created_by,
                          without_labels, without_members, without_values)
        select ${tenantId}, id, container_id, bucket_id, 'TASK', 'Item ' || n, repeat('words ', 20),
               case when (n / ${buckets}) % 10 = 0 then 'DONE' else 'OPEN' end, case when (n / ${buckets}) % 10 = 0 then now() end, 'g' || lpad(n::text, 7, '0'), ${accountId},
               (n / ${buckets}) % 4 <> 0, true, (n / ${buckets}) % 5 <> 0
        from made_item`
      await tx`insert into item_label (tenant_id, item_id, label_id) select ${tenantId}, id, label_id from made_item where (n / ${buckets}) % 4 = 0`
      await tx`
        insert into item_field_value (tenant_id, item_id, field_id, value)
        select ${tenantId}, id, ${field!['id']}, to_jsonb(n) from made_item where (n / ${buckets}) % 5 = 0`
      await tx`
        insert into bucket_tally (tenant_id, bucket_id, items)
        select ${tenantId}, bucket_id, count(*) from made_item group by bucket_id`
      // No bench asks the search, and making its documents would take half a processor beside what is measured.
      await tx`insert into search_index (tenant_id, language, state) values (${tenantId}, 'simple', 'SERVING') on conflict do nothing`
      await tx`insert into item_tally (tenant_id, items) values (${tenantId}, ${(boards - 1) * itemsEach + itemsOfFirst})`
      // A fast machine makes more items in a round than a workspace may have.
      await tx`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'items', 0) on conflict do nothing`
    })
    await sql`vacuum analyze`
    await sql`checkpoint`
    return { collections: await readCollections(sql, tenantId) }
  } finally {
    await sql.end()
  }
}

const readCollections = (sql: postgres.Sql, tenantId: string) => sql<Boards['collections'][number][]>`
  select c.id, (select jsonb_agg(b.id order by b.rank) from bucket b where b.container_id = c.id) as buckets,
         (select l.id from label l where l.container_id = c.id) as "labelId"
  from container c where c.tenant_id = ${tenantId} and c.name like 'Board %' order by c.rank`
