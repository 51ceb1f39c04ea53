/** A role in a container, as a flag says it: `ID=ROLE`. */
import { type Role, roles } from '../../core/contract/vocabulary.ts'
import { Failure } from '../failure.ts'

/** Fails (usage) for what names no role. */
export function placeOf(text: string): { container_id: string; role: Role } {
  const [container_id = '', role = ''] = text.split('=')
  if (!(roles as readonly string[]).includes(role))
    throw new Failure('usage', `--container ${text} names no role.`, `Write ID=ROLE, with one of ${roles.join(', ')}.`)
  return { container_id, role: role as Role }
}
