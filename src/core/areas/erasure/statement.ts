/**
 * The statement of a rule: it takes rows, copies what a hold covers, and removes or changes them, all at once.
 *
 *    taken  the rows, locked        kept   copies in erasure_held        done   removed, or changed
 *
 * Hashes of secrets are in no copy. Spec: Keeping, 1 (Two steps of removal) and 2.
 */
import type { ErasedPart } from '../../contract/privacy/requests.ts'
import type { Part } from '../../kernel/database/statement.ts'
import { type Place, part, type Rule, raw } from './rules.ts'

/** Whether a hold covers the row `x`; undefined: nothing is held, and nothing is copied. */
export type Held = (of: Pick<Rule, 'item' | 'container'>) => Part | undefined

export interface Asked {
  readonly erasureId: string
  readonly held: Held
  /** Rows of one statement; absent: all. */
  readonly limit?: number
  /** Where the rule is walked, behind which id. */
  readonly after?: string
  /** The columns that the place has; absent: all of them. */
  readonly columns?: readonly string[]
}

/** What a statement answers. `last`: of a walk, the last id that it looked at; null behind the end. */
export interface Done {
  readonly count: number
  readonly last: string | null
}

/** No copy has these: they let somebody in, or are nothing but a place. */
const neverCopied = "'{place_,hash,password_hash,wrap,ciphertext}'"

export function statementOfRule(rule: Rule, place: Place, asked: Asked): Part {
  const { tenantId } = place
  const table = place.table(rule.table)
  const isWalked = rule.isWalked === true && asked.after !== undefined
  const limit = asked.limit === undefined || isWalked ? part`` : part`limit ${asked.limit}`
  // A walk looks at a stretch of ids, and each changed row is found by its place: neither reads the table.
  const within = isWalked
    ? part`and x.id > ${asked.after ?? ''}::uuid and x.id <= (select id from seen order by id desc limit 1)`
    : part``
  const from = part`from ${table} x where x.tenant_id = ${tenantId} ${within} and ${rule.rows(place)} ${limit}`
  const seen = isWalked
    ? part`seen as (select x.id from ${table} x where x.tenant_id = ${tenantId} and x.id > ${asked.after ?? ''}::uuid order by x.id limit ${asked.limit ?? 1}),`
    : part``
  const also = place.isArchive ? [] : (rule.also?.(place) ?? [])
  return part`
    with ${seen} taken as materialized (select x.*, x.ctid as place_ ${from} for update of x)
      ${copied(rule, place, asked)} ${joined(also.map((one, at) => part`, also_${raw(String(at))} as (${one})`))},
      done as (${changed(rule, table, tenantId, asked.columns)} returning 1)
    select (select count(*)::int from done) as count,
      ${isWalked ? part`(select id from seen order by id desc limit 1)` : part`null::uuid`} as last`
}

function copied(rule: Rule, place: Place, { erasureId, held }: Asked): Part {
  const isHeld = rule.isNeverHeld ? undefined : held(rule)
  if (!isHeld) return part``
  return part`, kept as (${heldCopy(place, erasureId, rule, part`to_jsonb(x) - ${raw(neverCopied)}::text[]`, part`from taken x where ${isHeld}`)})`
}

/** Copies rows `x` into what holds keep. */
export const heldCopy = (
  { table, tenantId }: Pick<Place, 'table' | 'tenantId'>,
  erasureId: string,
  rule: { readonly part: ErasedPart; readonly table: string } & Pick<Rule, 'item' | 'container'>,
  body: Part,
  from: Part,
): Part => part`
  insert into ${table('erasure_held')} (tenant_id, id, erasure_id, part, place, item_id, container_id, body, held_at)
  select ${tenantId}::uuid, gen_random_uuid(), ${erasureId}::uuid, ${rule.part}::text, ${rule.table}::text,
    ${rule.item ?? part`null::uuid`}, ${rule.container ?? part`null::uuid`}, ${body}, now() ${from}`

function changed({ set }: Rule, table: Part, tenantId: string, columns: readonly string[] | undefined): Part {
  const of = part`where u.tenant_id = ${tenantId} and u.ctid = any (array(select place_ from taken))`
  if (!set) return part`delete from ${table} u ${of}`
  const named = Object.entries(set).filter(([column]) => columns === undefined || columns.includes(column))
  const written = named.map(([column, value], at) => part`${raw(at === 0 ? '' : ', ')}${raw(column)} = ${value}`)
  return part`update ${table} u set ${joined(written)} ${of}`
}

const joined = (parts: readonly Part[]): Part => parts.reduce((all, one) => part`${all} ${one}`, part``)
