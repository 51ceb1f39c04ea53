/**
 * A page of items as somebody would write it who knows the tables, and none of our statements: whether the container is seen, the
 * rows with what belongs to them, and the answer as JSON. No schemas, no filters, no cursor that is sealed, no bound in bytes.
 */
import type postgres from 'postgres'
import { type BareCaller, page, reading } from './bare-client.ts'

const labels = `
  select jsonb_agg(label_id order by label_id) as ids from item_label x join label l on l.tenant_id = $1 and l.id = x.label_id
  where x.tenant_id = $1 and x.item_id = i.id and l.deleted_at is null`
const members = `
  select jsonb_agg(account_id order by account_id) as ids from item_member x where x.tenant_id = $1 and x.item_id = i.id`
const fields = `
  select jsonb_object_agg(f.key, x.value) as of from item_field_value x
  join custom_field f on f.tenant_id = $1 and f.id = x.field_id and f.deleted_at is null
  where x.tenant_id = $1 and x.item_id = i.id`

const items = (where: string, order: string) => `
  select i.id, i.container_id, i.bucket_id, i.type, i.title, i.description, i.state, i.rank as position, i.parent_id,
    i.sibling_rank as sibling_position, coalesce(l.ids, '[]') as label_ids, coalesce(m.ids, '[]') as member_ids, i.assignee_id,
    coalesce(v.of, '{}') as custom_fields, i.start_at, i.due_at, i.start_on, i.due_on, i.time_zone, i.cover, i.completed_at,
    i.archived_at, i.created_at, i.created_by, i.updated_at, i.version
  from item i
  left join lateral (${labels}) l on not i.without_labels
  left join lateral (${members}) m on not i.without_members
  left join lateral (${fields}) v on not i.without_values
  where i.tenant_id = $1 and ${where} and i.deleted_at is null and i.archived_at is null
  order by ${order} limit $3`

const isSeen = (place: string) => `
  select 1 from container c left join container hub on hub.tenant_id = $1 and hub.id = c.parent_id
  where c.tenant_id = $1 and c.id = ${place} and c.deleted_at is null and hub.deleted_at is null`

/** The index of the order begins with the container. */
const ofBucket = '(select container_id from bucket where tenant_id = $1 and id = $2)'

const lists = {
  bucket: {
    seen: isSeen(ofBucket),
    rows: items(`i.container_id = ${ofBucket} and i.bucket_id = $2`, 'i.rank'),
  },
  container: { seen: isSeen('$2'), rows: items('i.container_id = $2', 'i.id') },
}

/** The first 50 of a list in its order. */
export const readItems = (client: postgres.Sql, caller: BareCaller, of: keyof typeof lists, id: string) =>
  reading(client, caller, async ({ send }) => {
    const { tenantId } = caller
    const seen = send(lists[of].seen, tenantId, id)
    const rows = await send(lists[of].rows, tenantId, id, 51)
    if ((await seen).length === 0) throw new Error('there is no such place')
    return page(rows, 'id')
  })

interface Asked {
  readonly labelId: string
  readonly leastPoints: number
  readonly titled: string
  readonly since: string
}

const query = items(
  `i.state = 'DONE' and i.title ilike $5 || '%' and i.created_at > $6
   and exists (select from item_label x where x.tenant_id = $1 and x.item_id = i.id and x.label_id = $2)
   and exists (
     select from item_field_value x join custom_field f on f.tenant_id = $1 and f.id = x.field_id and f.key = 'points'
     where x.tenant_id = $1 and x.item_id = i.id and (x.value #>> '{}')::numeric >= $4)
   and exists (${isSeen('i.container_id')})`,
  'i.id',
)

/** The first 50 items that fit, in the order of their creation. */
export const queryItems = (client: postgres.Sql, caller: BareCaller, { labelId, leastPoints, titled, since }: Asked) =>
  reading(client, caller, async ({ send }) =>
    page(await send(query, caller.tenantId, labelId, 51, leastPoints, titled, since), 'id'),
  )
