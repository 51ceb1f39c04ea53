/** Views as people name them on a command line. */
import { type View, viewOperations } from '../../core/contract/items/views.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { isId, pick } from './pick.ts'

/** The id of the view with that id or name. Fails (notFound, usage) where none or several are meant. */
export async function findView(caller: Caller, named: string): Promise<string> {
  if (isId(named)) return named.toLowerCase()
  const found: View[] = []
  for await (const page of pagesOf(caller, viewOperations.listViews, { size: 200 })) found.push(...page.data)
  const none = () =>
    new Failure('notFound', `There is no view "${named}".`, '`svc views list` shows those that you may use.')
  return pick(found, named, { by: ({ name }) => name, called: 'views', none }).id
}
