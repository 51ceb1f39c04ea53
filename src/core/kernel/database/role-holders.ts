/**
 * Who holds the roles of an account: the account itself and each group that it is a member of.
 *
 * `membership.holder_id` is an account or a group, and `account.group_ids` the groups of the account, kept beside its row
 * (areas/access/group-rows.ts). Every statement that asks what an account may do compares the first with this array, so that
 * one look-up in one index finds all roles, and no reader can forget the groups. Spec: people 2, Groups;
 * docs/decisions/0390.
 */
import type { Part } from './statement.ts'
import type { Tx } from './transaction.ts'

/**
 * Of the account `a`, which the statement reads anyhow: `m.holder_id = any (…)`. PostgreSQL joins an array to an empty one
 * without a copy, and most accounts are in no group; `array_append` unpacks the array first.
 */
export const ownHolders = ({ part }: Pick<Tx, 'part'>): Part => part`(array[a.id] || a.group_ids)`

/** Of an account that the statement does not read: made once where both ids are values. */
export const holdersOf = ({ part }: Pick<Tx, 'part'>, tenantId: Part, accountId: Part): Part => part`(
  select array[a.id] || a.group_ids from account a where a.tenant_id = ${tenantId} and a.id = ${accountId})::uuid[]`
