/**
 * The list of accounts, and one of them.
 *
 * Whatever the filters are, a page reads little more than what it answers: by a word, an address or an external id through
 * its index, by who sees a private container from the few roles there, by a group through its members, and otherwise through
 * the accounts, oldest first.
 * Spec: people 1, N4, I1; docs/decisions/0376.
 */
import type { AccountState, accountOperations as ops } from '../../../contract/identity/accounts.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { ownHolders } from '../../../kernel/database/role-holders.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { firstId, pageOfRows } from '../../../kernel/transaction/page.ts'
import { isAccount } from '../../../kernel/values/actor.ts'
import { isSeen } from '../../access/access.ts'
import { foldWords } from '../../access/account-words.ts'
import { accountSigningIn } from '../../access/addresses.ts'
import { isRestrictedFor } from '../../access/restriction.ts'
import { isGroupSeen } from '../../groups/group-row.ts'
import { accountColumns, accountsFrom, isSeenByGuest, isThere, placesSeen, readAccount } from './account-row.ts'
import { workspaceOfAccount, workspaceOfSlug } from './workspace.ts'

type Asked = Received<typeof ops.listAccounts>
type Row = Answer<typeof ops.getAccount> & { readonly word?: string }

/** Refuses not_found. */
export async function getAccount(
  ctx: Ctx,
  { accountId }: Received<typeof ops.getAccount>,
): Promise<Answer<typeof ops.getAccount>> {
  if (isAccount(ctx.actor)) return readAccount(ctx, ctx.actor.tenantId, accountId, ctx.tx.last)
  const tenantId = await workspaceOfAccount(ctx, accountId)
  return ctx.inWorkspace(tenantId, () => readAccount(ctx, tenantId, accountId))
}

/** Refuses request.malformed, not_found at the database, cursor.invalid. */
export async function listAccounts(ctx: Ctx, asked: Asked): Promise<Answer<typeof ops.listAccounts>> {
  if (isAccount(ctx.actor)) {
    if (asked.workspace !== undefined) refuseWorkspace('member.unknown')
    return listIn(ctx, ctx.actor.tenantId, asked)
  }
  if (asked.workspace === undefined) refuseWorkspace('member.required')
  const tenantId = await workspaceOfSlug(ctx, asked.workspace)
  return ctx.inWorkspace(tenantId, () => listIn(ctx, tenantId, asked))
}

function refuseWorkspace(code: string): never {
  refuse('request.malformed', undefined, { errors: [{ parameter: 'workspace', code, params: {} }] })
}

async function listIn(ctx: Ctx, tenantId: string, { cursor, size, workspace: _, ...filters }: Asked) {
  const { tx } = ctx
  // At the database the role has to change back behind the statement.
  const look = isAccount(ctx.actor) ? tx.last : tx
  const list = { operation: 'listAccounts', filters }
  const place = cursor === undefined ? undefined : ctx.cursor.read(list.operation, filters, cursor)
  const sight = await lookAround(ctx, tenantId, filters.container_id)
  if (sight.of === 'nobody' || !(await isGroupShown(ctx, filters.group_id))) return { data: [], next_cursor: null }
  const isAsked = tx.part`${sightOf(ctx, tenantId, sight)} ${filtersOf(ctx, tenantId, filters)}`
  const { q } = filters
  const rows =
    q === undefined
      ? await look<Row[]>`
          select ${accountColumns(ctx, tenantId)} from ${accountsFrom(ctx)}
          where a.tenant_id = ${tenantId} and a.id > ${place?.[0] ?? firstId}::uuid and ${isAsked}
          order by a.id limit ${size + 1}`
      : await look<Row[]>`
          select ${accountColumns(ctx, tenantId)}, w.word from ${wordsFrom(ctx, tenantId, q, place)}
          cross join ${accountsFrom(ctx)}
          where a.tenant_id = w.tenant_id and a.id = w.account_id and ${isAsked}
          order by w.word, w.account_id limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size, ({ id, word }) => (word === undefined ? [id] : [word, id]))
}

/** Of the members as an array: an index finds these alone, where a join might read every account. */
const isMember = ({ tx }: Ctx, tenantId: string, groupId: string): Part => tx.part`and a.id = any (array(
  select m.account_id from group_member m where m.tenant_id = ${tenantId} and m.group_id = ${groupId}))`

/** A group that a guest does not see has no members for the guest. */
async function isGroupShown(ctx: Ctx, groupId: string | undefined): Promise<boolean> {
  const { actor, tx } = ctx
  if (groupId === undefined || !isAccount(actor) || !actor.isGuest) return true
  const [shown] = await tx`
    select 1 from account_group g where g.tenant_id = ${actor.tenantId} and g.id = ${groupId} and ${isGroupSeen(ctx)}`
  return shown !== undefined
}

/** Above every text of the collation "C". */
const last = '\u{10FFFF}'

/** The words `w` that begin so, behind a place; of an account's several the first. */
function wordsFrom(ctx: Ctx, tenantId: string, q: string, place: readonly string[] | undefined): Part {
  const { tx, actor } = ctx
  const from = foldWords(q)
  const range = (word: Part) => tx.part`${word} >= ${from} and ${word} < ${from + last}`
  const ofGuest = isAccount(actor) && actor.isGuest ? tx.part`and not w.of_address` : tx.part``
  // An index is read from the place on, whatever else bounds the word: so the first page's is where the range begins.
  const [word, id] = place ?? [from, firstId]
  return tx.part`(select w.tenant_id, w.word, w.account_id from account_word w
    where w.tenant_id = ${tenantId} and ${range(tx.part`w.word`)} and (w.word, w.account_id) > (${word ?? from}, ${id ?? firstId}::uuid) ${ofGuest}
      and not exists (select from account_word o where o.tenant_id = ${tenantId} and o.account_id = w.account_id
                      and ${range(tx.part`o.word`)} and o.word < w.word ${isAccount(actor) && actor.isGuest ? tx.part`and not o.of_address` : tx.part``})) w`
}

type Filters = Omit<Asked, 'cursor' | 'size' | 'workspace'>

function filtersOf(ctx: Ctx, tenantId: string, asked: Filters): Part {
  const { q, email, external_id, container_id, group_id, state, kind } = asked
  const { tx, actor } = ctx
  // A restricted account is in the list of all, without its name: it is neither found nor offered.
  const isSought = [q, email, external_id, container_id].some((one) => one !== undefined)
  // A guest finds no address but the own one.
  const isOwn = isAccount(actor) && actor.isGuest ? tx.part`and a.id = ${actor.accountId}` : tx.part``
  return tx.part`
    ${isSought ? tx.part`and not ${isRestrictedFor(ctx)}` : tx.part``}
    ${email === undefined ? tx.part`` : tx.part`and a.id = ${accountSigningIn(tx, tx.part`${tenantId}`, email)} ${isOwn}`}
    ${external_id === undefined ? tx.part`` : tx.part`and a.external_id = ${external_id}`}
    ${group_id === undefined ? tx.part`` : isMember(ctx, tenantId, group_id)}
    ${state === undefined ? tx.part`` : isIn(ctx, state)} ${kind === undefined ? tx.part`` : isOf(ctx, kind)}`
}

/** Written out, as the kind is, so that the indexes of the few serve a plan that is kept. */
function isIn({ tx }: Ctx, state: AccountState): Part {
  if (state === 'INVITED') return tx.part`and a.state = 'INVITED'`
  if (state === 'ACTIVE') return tx.part`and a.state = 'ACTIVE'`
  if (state === 'DISABLED') return tx.part`and a.state = 'DISABLED'`
  return tx.part`and a.state = 'ERASED'`
}

const isOf = ({ tx }: Ctx, kind: 'PERSON' | 'SERVICE'): Part =>
  kind === 'SERVICE' ? tx.part`and a.kind = 'SERVICE'` : tx.part`and a.kind = 'PERSON'`

/** Whose accounts are asked for, as far as the caller sees them. */
type Sight =
  | { readonly of: 'everybody' }
  /** A container that the caller does not see. */
  | { readonly of: 'nobody' }
  | { readonly of: 'container'; readonly isOpen: boolean; readonly places: readonly string[] }
  | { readonly of: 'guest'; readonly seesOpen: boolean }

async function lookAround(ctx: Ctx, tenantId: string, containerId: string | undefined): Promise<Sight> {
  const { tx, actor } = ctx
  if (containerId !== undefined) {
    const container = await findContainer(ctx, tenantId, containerId)
    if (!container) return { of: 'nobody' }
    const { id, parent_id, is_private, is_hub_private } = container
    const places = parent_id === null || is_private ? [id] : [id, parent_id]
    return { of: 'container', isOpen: !is_private && !is_hub_private, places }
  }
  if (!isAccount(actor) || !actor.isGuest) return { of: 'everybody' }
  const [seen] = await tx<{ is_open: boolean }[]>`
    select exists (select from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
                   where c.tenant_id = ${tenantId} and ${isSeen(ctx)} and ${isThere(ctx)}
                     and not (c.is_private or coalesce(h.is_private, false))) as is_open`
  return { of: 'guest', seesOpen: seen?.is_open === true }
}

/** A condition on the account `a`: that it is one of those. */
function sightOf(ctx: Ctx, tenantId: string, sight: Exclude<Sight, { of: 'nobody' }>): Part {
  const { tx } = ctx
  if (sight.of === 'everybody') return tx.part`true`
  if (sight.of === 'guest')
    return sight.seesOpen
      ? isSeenByGuest(ctx)
      : seesPrivate(ctx, tenantId, tx.part`v.container_id in (${placesSeen(ctx)})`)
  const places = tx.list(sight.places)
  return sight.isOpen
    ? tx.part`exists (select from membership v where v.tenant_id = ${tenantId} and v.holder_id = any (${ownHolders(tx)})
                      and (v.container_id is null or v.container_id in ${places}))`
    : seesPrivate(ctx, tenantId, tx.part`v.container_id in ${places}`)
}

/** Where no role on the workspace shows a container but OWNER, the roles in it lead to the accounts. */
const seesPrivate = ({ tx }: Ctx, tenantId: string, there: Part): Part => tx.part`a.id in (
  select v.account_id from membership v where v.tenant_id = ${tenantId} and v.account_id is not null and ${there}
  union select g.account_id from membership v join group_member g on g.tenant_id = v.tenant_id and g.group_id = v.group_id
    where v.tenant_id = ${tenantId} and ${there}
  union select o.account_id from membership o where o.tenant_id = ${tenantId} and o.container_id is null and o.role = 'OWNER')`

interface Place {
  readonly id: string
  readonly parent_id: string | null
  readonly is_private: boolean
  readonly is_hub_private: boolean
}

/** A container that the caller sees; at the database any. */
async function findContainer(ctx: Ctx, tenantId: string, id: string): Promise<Place | undefined> {
  const [row] = await ctx.tx<Place[]>`
    select c.id, c.parent_id, c.is_private, coalesce(h.is_private, false) as is_hub_private
    from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and c.id = ${id} and ${isThere(ctx)} ${isAccount(ctx.actor) ? ctx.tx.part`and ${isSeen(ctx)}` : ctx.tx.part``}`
  return row
}
