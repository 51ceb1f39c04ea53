/**
 * Who holds the roles of an account: the account itself and each group that it is a member of.
 *
 * `membership.holder_id` is an account or a group. Every statement that asks what an account may do compares it with this
 * array, so that one look-up in one index finds all roles, and no reader can forget the groups. For a condition on one
 * account the array is made once for the statement. Spec: people 2, Groups; docs/decisions/0390.
 */
import type { Part } from './statement.ts'
import type { Tx } from './transaction.ts'

/** An array of ids: `m.holder_id = any (…)`. Both ids are expressions of the statement. */
export const holdersOf = ({ part }: Pick<Tx, 'part'>, tenantId: Part, accountId: Part): Part => part`array(
  select ${accountId} union all
  select g.group_id from group_member g where g.tenant_id = ${tenantId} and g.account_id = ${accountId})`
