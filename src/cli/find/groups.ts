/** Groups as people name them on a command line. */
import { Args } from '@oclif/core'
import { type Group, groupOperations } from '../../core/contract/groups/operations.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { accountArg, findAccount } from './accounts.ts'
import { isId, pick } from './pick.ts'

/** What `findGroup` takes. */
export const groupArgument = Args.string({
  ignoreStdin: true,
  required: true,
  description: "the group's name or id",
})

/** Whose membership it is. */
export const accountArgument = Args.string({ ignoreStdin: true, required: true, description: accountArg })

/** The id of the account that is meant; an id is not looked up. Refuses not_found. */
export const accountIdOf = async (caller: Caller, named: string): Promise<string> =>
  isId(named) ? named.toLowerCase() : (await findAccount(caller, named, undefined)).id

/** Every group that the caller sees, by name. */
export async function everyGroup(caller: Caller, narrowed: object = {}): Promise<Group[]> {
  const data: Group[] = []
  for await (const page of pagesOf(caller, groupOperations.listGroups, { size: 200, ...narrowed }))
    data.push(...page.data)
  return data
}

/** The id of the group that is meant; an id is not looked up. Fails (notFound). */
export const groupIdOf = async (caller: Caller, named: string): Promise<string> =>
  isId(named) ? named.toLowerCase() : (await findGroup(caller, named)).id

/** The group of that id or name. Fails (notFound) where none is meant; names are unique. */
export async function findGroup(caller: Caller, named: string): Promise<Group> {
  if (isId(named)) return caller.call(groupOperations.getGroup, { groupId: named.toLowerCase() })
  const none = () =>
    new Failure('notFound', `There is no group "${named}".`, '`svc groups list` shows those that you see.')
  const found = named.length <= 120 ? await everyGroup(caller, { q: named }) : []
  return pick(found, named, { by: ({ name }) => name, called: 'groups', none })
}
