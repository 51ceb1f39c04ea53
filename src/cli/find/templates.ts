/** Templates as people name them on a command line. */
import { type TemplateListed, templateOperations } from '../../core/contract/templates/operations.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { pick } from './pick.ts'

/** Every template that the caller sees. */
export async function everyTemplate(caller: Caller, narrowed: object = {}): Promise<TemplateListed[]> {
  const data: TemplateListed[] = []
  for await (const page of pagesOf(caller, templateOperations.listTemplates, { size: 200, ...narrowed }))
    data.push(...page.data)
  return data
}

/** The template with that id or name. Fails (notFound, usage) where none or several are meant. */
export async function findTemplate(caller: Caller, named: string): Promise<TemplateListed> {
  const none = () =>
    new Failure('notFound', `There is no template "${named}".`, '`svc templates list` shows those that you see.')
  return pick(await everyTemplate(caller), named, { by: ({ name }) => name, called: 'templates', none })
}
