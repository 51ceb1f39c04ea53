/** Collections as people name them on a command line. */
import { type Container, containerOperations } from '../../core/contract/containers/operations.ts'
import type { Caller } from '../call/caller.ts'
import { pagesOf } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { isId, pick } from './pick.ts'

const none = (named: string) => () =>
  new Failure(
    'notFound',
    `There is no collection "${named}" that you see.`,
    '`svc api GET /containers` lists them all.',
  )

/** The id of the collection with that id or name. Fails (notFound, usage) where none or several are meant. */
export async function findCollection(caller: Caller, named: string): Promise<string> {
  if (isId(named)) return named.toLowerCase()
  const found: Container[] = []
  for await (const page of pagesOf(caller, containerOperations.listContainers, { kind: 'COLLECTION', size: 200 }))
    found.push(...page.data)
  return pick(found, named, { by: ({ name }) => name, called: 'collections', none: none(named) }).id
}
