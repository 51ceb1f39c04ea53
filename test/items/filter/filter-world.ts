/** Random items and random filters, and whether the compiler and the interpreter say the same of them. */
import { randomUUIDv7 } from 'node:crypto'
import { performForAnswer } from '../../../src/core/app/perform.ts'
import { checkFilter } from '../../../src/core/areas/items/filter/check.ts'
import type { Checked } from '../../../src/core/areas/items/filter/checked.ts'
import { compile } from '../../../src/core/areas/items/filter/compile.ts'
import { holds } from '../../../src/core/areas/items/filter/interpret.ts'
import { namesIn } from '../../../src/core/areas/items/filter/names.ts'
import { type Filter, faultsOf } from '../../../src/core/contract/items/filter.ts'
import {
  bareOperators,
  filterKinds,
  type ItemField,
  itemFields,
  kindOfCustom,
} from '../../../src/core/contract/items/filter-fields.ts'
import type { Item } from '../../../src/core/contract/items/operations.ts'
import type { Operation, Sent } from '../../../src/core/contract/operation.ts'
import { operations } from '../../../src/core/contract/operations.ts'
import type { FieldKind } from '../../../src/core/contract/structure/custom-fields.ts'
import type { Ctx } from '../../../src/core/kernel/transaction/context.ts'
import type { AccountActor } from '../../../src/core/kernel/values/actor.ts'
import { adminOf } from '../../kit/events.ts'
import { type TestInstallation, testInstallation } from '../../kit/installation.ts'

/** Numbers from 0 up to 1 that a seed repeats. */
function seeded(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (most: number) => Math.floor(next() * most)
  return {
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    some: <T>(list: readonly T[], most: number): T[] =>
      Array.from({ length: 1 + below(most) }, () => list[below(list.length)] as T),
    is: (chance: number) => next() < chance,
  }
}
type Random = ReturnType<typeof seeded>

const words = [
  'Straße',
  'strasse',
  'ΟΔΟΣ',
  'οδος',
  'Épée',
  'epee',
  "it's",
  '100%',
  'a_b',
  '\\',
  'ﬁne',
  'İstanbul',
  '日本',
  '',
]
const numbers = [0, -0, 1, -1, 2.5, -2.5, 1e300, -1e300, 5e-324, Number.MAX_SAFE_INTEGER, 0.1 + 0.2]
const days = ['2026-11-22', '2026-11-23', '2026-11-24', '0001-01-01', '9999-12-31']
const moments = [
  '2026-11-23T22:59:59.999Z',
  '2026-11-23T23:00:00.000Z',
  '2026-11-24T10:00:00.000Z',
  '1999-12-31T23:59:59.999Z',
]
const options = ['low', 'high', 'High', "o'clock"]
const links = ['https://example.org/Straße', 'http://example.org/?q=%F0']
const kinds: readonly FieldKind[] = ['TEXT', 'NUMBER', 'DATE', 'SELECT', 'MULTI_SELECT', 'BOOL', 'USER', 'URL']

const textOf = (random: Random) => `${random.pick(words)} ${random.pick(words)}`.trim() || 'x'
const longText = 'ab'.repeat(200)

export interface FilterWorld {
  readonly own: TestInstallation
  readonly tenantId: string
  readonly actor: AccountActor
  readonly items: readonly Item[]
  /** The first difference of so many random filters; undefined: they agree on all. */
  differences(seed: number, filters: number): Promise<string | undefined>
  inWorkspace<T>(work: (ctx: Ctx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function filterWorld(itemCount: number, seed = 1): Promise<FilterWorld> {
  const own = await testInstallation()
  const { tenant, owner, hub_id: hubId, collection_id: first } = await own.provision()
  const tenantId = tenant.id
  const actor = { ...adminOf(tenantId), accountId: owner.account_id, role: 'OWNER' as const }
  const { oracle } = own
  await oracle`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  const call = <O extends Operation>(operation: O, sent: Sent<O>) =>
    performForAnswer(own.installation, operation, actor, sent)

  const random = seeded(seed)
  const { id: second } = await call(operations.createContainer, {
    body: { kind: 'COLLECTION', parent_id: hubId, name: 'second' },
  })
  const containers = [first, second]
  const accounts: readonly string[] = [owner.account_id, await account(oracle, tenantId)]
  const buckets = await Promise.all(
    containers.map(
      async (containerId) => (await call(operations.createBucket, { containerId, body: { name: 'a bucket' } })).id,
    ),
  )
  const labels: string[] = []
  for (const containerId of [first, first, second])
    labels.push(
      (await call(operations.createLabel, { containerId, body: { name: `l${labels.length}`, color_token: 'red' } })).id,
    )
  const offered = (kind: FieldKind) => (kind === 'SELECT' || kind === 'MULTI_SELECT' ? { options } : {})
  for (const kind of kinds)
    await call(operations.createCustomField, {
      body: {
        key: kind.toLowerCase(),
        kind,
        ...offered(kind),
        applies_to: kind === 'BOOL' ? ['TASK'] : ['TASK', 'NOTE'],
      },
    })
  // Keys of the workspace that one collection shows as its own, and one that only this has.
  for (const [key, kind] of [
    ['number', 'TEXT'],
    ['text', 'TEXT'],
    ['own', 'NUMBER'],
  ] as const)
    await call(operations.createCustomField, { body: { collection_id: second, key, kind, applies_to: ['TASK'] } })
  const { id: deleted } = await call(operations.createCustomField, { body: { key: 'former', kind: 'TEXT' } })

  const values: Readonly<Record<FieldKind, () => unknown>> = {
    TEXT: () => (random.is(0.1) ? `${longText}${random.pick(['', 'x'])}` : textOf(random)),
    URL: () => random.pick(links),
    NUMBER: () => random.pick(numbers),
    DATE: () => random.pick(days),
    SELECT: () => random.pick(options),
    MULTI_SELECT: () => [...new Set(random.some(options, 3))],
    BOOL: () => random.is(0.5),
    USER: () => random.pick(accounts),
  }
  const fieldsFor = (containerId: string, type: string) =>
    kinds.flatMap((kind) => {
      const key = kind.toLowerCase()
      const isText = containerId === second && (key === 'number' || key === 'text')
      if (type === 'ACTIVITY' || type === 'EVENT' || (type === 'NOTE' && (kind === 'BOOL' || isText)) || random.is(0.4))
        return []
      return [[key, values[isText ? 'TEXT' : kind]()]]
    })
  for (let at = 0; at < itemCount; at += 1) {
    const containerId = random.pick(containers)
    const type = random.pick(['TASK', 'TASK', 'NOTE', 'EVENT', 'ACTIVITY'] as const)
    const item = await call(operations.createItem, {
      body: {
        container_id: containerId,
        type,
        title: random.is(0.1) ? longText : textOf(random),
        bucket_id: random.is(0.3) ? null : undefined,
        label_ids: [...new Set(labels.filter((_, n) => n < 2 === (containerId === first) && random.is(0.4)))],
        custom_fields: {
          ...Object.fromEntries(fieldsFor(containerId, type)),
          ...(containerId === second && type === 'TASK' && random.is(0.5) ? { own: random.pick(numbers) } : {}),
          ...(type === 'TASK' && random.is(0.2) ? { former: 'was here' } : {}),
        },
        due_at: random.is(0.4) ? random.pick(moments) : null,
      } as Sent<typeof operations.createItem>['body'],
    })
    if (random.is(0.3)) await call(operations.completeItem, { itemId: item.id })
    if (random.is(0.2)) await call(operations.updateItem, { itemId: item.id, body: { title: textOf(random) } })
    if (random.is(0.2) && type === 'TASK')
      await call(operations.setItemField, {
        itemId: item.id,
        key: 'select',
        body: { value: random.pick([null, ...options]) },
      })
    if (random.is(0.2))
      await call(operations.setItemDue, {
        itemId: item.id,
        body: { start_at: '2026-11-23T22:59:59.999Z', due_at: '2026-11-24T10:00:00.000Z' },
      })
    if (random.is(0.3)) await call(operations.assignItem, { itemId: item.id, body: { account_id: owner.account_id } })
    if (random.is(0.2))
      await oracle`
        with file as (
          insert into media (tenant_id, id, filename, size_bytes, loose_since, created_by)
          values (${tenantId}, gen_random_uuid(), 'f', 1, null, ${owner.account_id}) returning id)
        insert into media_reference (tenant_id, item_id, media_id, added_by)
        select ${tenantId}, ${item.id}, id, ${owner.account_id} from file`
    if (random.is(0.2))
      await call(operations.moveItem, { itemId: item.id, body: { container_id: random.pick(containers) } })
    if (random.is(0.3))
      await oracle`
        insert into item_member (tenant_id, item_id, account_id) values (${tenantId}, ${item.id}, ${random.pick(accounts)})
        on conflict do nothing`
  }
  await oracle`update item set without_members = false where tenant_id = ${tenantId}`
  await call(operations.deleteCustomField, { fieldId: deleted })
  await call(operations.deleteLabel, { containerId: first, labelId: labels[1] ?? '' })

  const { data: flat } = await call(operations.listItems, { size: 200 })
  for (const { id, container_id } of flat)
    if (random.is(0.3)) {
      const parent_id = random.pick(flat.filter((one) => one.container_id === container_id && one.id < id))?.id
      if (parent_id) await call(operations.moveItem, { itemId: id, body: { parent_id } }).catch(() => {})
    }
  for (const { id } of flat) if (random.is(0.2)) await call(operations.archiveItem, { itemId: id }).catch(() => {})
  const { data: items } = await call(operations.listItems, { size: 200, archived: 'INCLUDE' })
  const carriers = new Set(
    (await oracle<{ item_id: string }[]>`select item_id from media_reference`).map(({ item_id }) => item_id),
  )
  const parents = new Set(items.map(({ parent_id }) => parent_id))
  const hubs = new Map(
    (await oracle<{ id: string; parent_id: string | null }[]>`select id, parent_id from container`).map(
      ({ id, parent_id }) => [id, parent_id],
    ),
  )
  const facts = {
    hubOf: (id: string) => hubs.get(id) ?? null,
    hasChildren: (id: string) => parents.has(id),
    hasAttachments: (id: string) => carriers.has(id),
    hasAccess: (id: string) => id === owner.account_id,
  }
  const gone = randomUUIDv7()
  const ids: Readonly<Record<string, readonly string[]>> = {
    item: items.slice(0, 5).map(({ id }) => id),
    container: containers,
    hub: [hubId],
    bucket: buckets,
    label: labels,
  }
  const inWorkspace = <T>(work: (ctx: Ctx) => Promise<T>) =>
    own.installation.transaction(actor, { readOnly: true, tenantId }, work)

  const around = { now: Date.parse('2026-11-24T10:00:00.000Z'), zone: 'Europe/Vienna' }
  const dateValue = (random: Random) =>
    random.pick<unknown>([
      ...days.slice(0, 3),
      ...moments,
      'now',
      { unit: random.pick(['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']), offset: random.below(3) - 1 },
      random.pick(items).created_at,
    ])
  const valueFor = (random: Random, kind: keyof typeof filterKinds, field: ItemField | undefined): unknown => {
    switch (kind) {
      case 'REFERENCE':
      case 'REFERENCES':
        return random.is(0.15) ? gone : random.pick(ids[field && 'of' in field ? field.of : 'item'] ?? [])
      case 'PERSON':
      case 'PEOPLE':
        return random.is(0.1) ? gone : random.pick([...accounts, 'me'])
      case 'CHOICE':
        return random.pick(field && 'values' in field ? field.values : [])
      case 'OPTION':
      case 'OPTIONS':
        return random.pick([...options, 'never'])
      case 'TEXT':
        return random.is(0.1)
          ? longText.slice(0, random.pick([1, 199, 200]))
          : random.pick([textOf(random), random.pick(words) || 'e', 's', 'https://EXAMPLE.org'])
      case 'NUMBER':
        return random.pick(numbers)
      case 'MOMENT':
      case 'DAY':
        return dateValue(random)
      case 'FLAG':
        return random.is(0.5)
    }
  }
  const fieldOf = (random: Random) => {
    const isCustom = random.is(0.45)
    const name = isCustom
      ? random.pick([...kinds.map((kind) => kind.toLowerCase()), 'own', 'former'])
      : random.pick(Object.keys(itemFields))
    return { isCustom, name }
  }
  const condition = (random: Random, { isCustom, name } = fieldOf(random)): Filter => {
    const field: ItemField | undefined = isCustom ? undefined : itemFields[name as keyof typeof itemFields]
    const kind = field?.kind ?? kindOfCustom[(kinds.find((one) => one.toLowerCase() === name) ?? 'NUMBER') as FieldKind]
    const op = random.pick<string>(filterKinds[kind].operators)
    const one = () => valueFor(random, kind, field)
    const value = bareOperators.some((bare) => bare === op)
      ? {}
      : op === 'between'
        ? { value: [one(), one()] }
        : op === 'in' || op === 'not_in' || op.startsWith('has_')
          ? { value: Array.from({ length: 1 + random.below(3) }, one) }
          : { value: one() }
    return { field: isCustom ? `custom.${name}` : name, op, ...value } as Filter
  }
  /** Conditions on one field share the look-up of its key. */
  const ofOneField = (random: Random) => {
    const field = random.pick([
      { isCustom: false, name: 'title' },
      { isCustom: true, name: 'multi_select' },
      fieldOf(random),
    ])
    const one = () => condition(random, field)
    return Array.from({ length: 2 + random.below(2) }, () => (random.is(0.2) ? { not: one() } : one()))
  }
  const filterOf = (random: Random, level = 0): Filter => {
    if (level >= 3 || random.is(0.35)) return condition(random)
    const many = () =>
      random.is(0.3)
        ? ofOneField(random)
        : Array.from({ length: 1 + random.below(3) }, () => filterOf(random, level + 1))
    const form = random.below(3)
    return form === 0 ? { all: many() } : form === 1 ? { any: many() } : { not: filterOf(random, level + 1) }
  }

  const difference = async (ctx: Ctx, filter: Filter, checked: Checked): Promise<string | undefined> => {
    const rows = await ctx.tx<{ id: string }[]>`
      select i.id from item i where i.tenant_id = ${tenantId} and i.deleted_at is null
        and ${compile(ctx, checked, { isLoose: false })} order by i.id`
    const expected = items.filter((item) => holds(checked, item, facts) === true).map(({ id }) => id)
    const found = rows.map(({ id }) => id)
    if (found.join() === expected.join()) return undefined
    const wrong = items.filter(({ id }) => found.includes(id) !== expected.includes(id))
    return `${JSON.stringify(filter)}\ncompiled ${found.length}, interpreted ${expected.length}; for example ${JSON.stringify(wrong[0])}`
  }

  return {
    own,
    tenantId,
    actor,
    items,
    inWorkspace,
    async differences(from, filters) {
      const random = seeded(from)
      for (let done = 0; done < filters; done += 50) {
        const found = await inWorkspace(async (ctx) => {
          for (let n = done; n < Math.min(done + 50, filters); n += 1) {
            const filter = filterOf(random)
            const faults = faultsOf(filter)
            if (faults.length > 0) return `${JSON.stringify(filter)}: ${JSON.stringify(faults)}`
            const containerId = random.pick([undefined, ...containers])
            const names = await namesIn(ctx, filter, containerId)
            let checked: Checked
            try {
              checked = checkFilter(filter, [], { ...around, names, me: actor.accountId }).checked
            } catch {
              continue // the collection has another kind under the key
            }
            const different = await difference(ctx, filter, checked)
            if (different !== undefined) return different
          }
          return undefined
        })
        if (found !== undefined) return `seed ${from}: ${found}`
      }
      return undefined
    },
    close: () => own.close(),
  }
}

async function account(oracle: TestInstallation['oracle'], tenantId: string): Promise<string> {
  const id = randomUUIDv7()
  await oracle`
    insert into account (tenant_id, id, kind, state, email, email_fold)
    values (${tenantId}, ${id}, 'PERSON', 'ACTIVE', ${`${id}@example.org`}, ${`${id}@example.org`})`
  return id
}
