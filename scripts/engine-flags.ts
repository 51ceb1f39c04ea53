/**
 * How bin/svc starts Node, for tests and benchmarks whose daemon must have the memory and speed of production.
 */
import { readFileSync } from 'node:fs'

const launcher = readFileSync(new URL('../bin/svc', import.meta.url), 'utf8')
const [, pools = '', flags = ''] =
  /^MALLOC_ARENA_MAX=\$\{MALLOC_ARENA_MAX:-(\d+)\} exec "\$node"((?: --[a-z0-9-]+=\d+)*) /m.exec(launcher) ?? []

export const engineFlags: readonly string[] = flags.split(' ').filter((flag) => flag !== '')
export const engineEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: pools }
