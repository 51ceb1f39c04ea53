/** Accounts by the name people give: the address or name that one signs in with, or the id. */
import { Flags } from '@oclif/core'
import { type Account, accountOperations } from '../../core/contract/identity/accounts.ts'
import { Problem } from '../../core/contract/problem.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { isId } from './pick.ts'

export const ofWorkspace = {
  workspace: Flags.string({
    summary: 'With --recovery: the workspace, by its slug.',
    helpValue: 'SLUG',
  }),
}

export const accountArg = "the account's address, sign-in name or id"

/** The account of that address or id. Refuses not_found; fails (usage) at the database for an address without a workspace. */
export async function findAccount(caller: Caller, name: string, workspace: string | undefined): Promise<Account> {
  if (isId(name)) return caller.call(accountOperations.getAccount, { accountId: name.toLowerCase() })
  const { data } = await caller.call(accountOperations.listAccounts, {
    email: name,
    ...workspaceFor(caller, workspace),
  })
  const [found] = data
  if (!found) throw new Problem('not_found')
  return found
}

/** The workspace as `listAccounts` takes it: at the database alone, and there always. */
export function workspaceFor(caller: Caller, workspace: string | undefined): { workspace?: string } {
  if (caller.way === 'database') {
    if (workspace === undefined) throw new Failure('usage', 'At the database, name the workspace: --workspace SLUG.')
    return { workspace }
  }
  if (workspace !== undefined)
    throw new Failure('usage', '--workspace is for --recovery.', 'Over the API it is the workspace of your profile.')
  return {}
}

/** What people call the account. */
export const calledBy = ({ email, sign_in_name, display_name, id }: Account) =>
  email ?? sign_in_name ?? display_name ?? id
