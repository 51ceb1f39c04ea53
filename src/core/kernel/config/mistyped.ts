/**
 * Variables that nobody reads, and that are probably mistyped: `SVC_DATABSE_URL`.
 *
 * A name that is near to none is left alone, because orchestrators set such ones themselves: Kubernetes does for a service
 * that is called svc. Spec: decisions 6, Process interface.
 */
import { nearest } from '../values/nearest.ts'
import { environment } from './config.ts'

/** Read elsewhere: by commands, and by tests. */
const others = ['SVC_API_URL', 'SVC_TOKEN', 'SVC_TEST', 'SVC_FAILPOINTS']

/** A line for each. */
export function mistypedVariables(env: NodeJS.ProcessEnv): readonly string[] {
  const known = [...Object.keys(environment.shape), ...others]
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !known.includes(name))
    .flatMap((name) => {
      const meant = nearest(name, known)
      return meant === undefined ? [] : [`${name} is not read. Did you mean ${meant}?`]
    })
}
