/**
 * How bin/svc starts Node, for tests and benchmarks whose daemon must have the memory and speed of production.
 */
import { readFileSync } from 'node:fs'

const launcher = readFileSync(new URL('../bin/svc', import.meta.url), 'utf8')
const start = /^MALLOC_ARENA_MAX=\$\{MALLOC_ARENA_MAX:-(\d+)\} exec "\$node"((?: --[a-z0-9-]+=\d+)*) "\$root/m.exec(
  launcher,
)
if (!start) throw new Error('bin/svc starts Node in another way than is read here')
const [, pools = '', flags = ''] = start

export const engineFlags: readonly string[] = flags.split(' ').filter((flag) => flag !== '')
export const engineEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: pools }
