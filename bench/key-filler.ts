/** The typed keys of items that a filler made: those of their titles and numbers, as the rule of an item writes them. */
import postgres from 'postgres'
import { numberKey, titleField } from '../src/core/areas/items/filter/keys.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import type { Ground } from './ground.ts'

export async function keyItems({ superuser, tenantId }: Ground): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  try {
    const numbers = await sql<{ value: number }[]>`
      select distinct (value #>> '{}')::int as value from item_field_value where tenant_id = ${tenantId}`
    const keys = numbers.map(({ value }) => ({ value, key: numberKey(value) }))
    await sql`
      insert into item_field_key (tenant_id, field_id, item_id, key)
      select v.tenant_id, v.field_id, v.item_id, k.key
      from jsonb_to_recordset(${sql.json(keys)}) as k(value integer, key text)
      join item_field_value v on v.tenant_id = ${tenantId} and (v.value #>> '{}')::int = k.value`
    await sql`
      insert into item_field_key (tenant_id, field_id, item_id, key)
      select tenant_id, ${titleField}, id, lower(title) from item where tenant_id = ${tenantId}`
    await sql`update item set without_keys = false where tenant_id = ${tenantId}`
    await sql`vacuum analyze item, item_field_key`
    await sql`checkpoint`
  } finally {
    await sql.end()
  }
}
