/** The flags that bin/svc starts Node with, for tests and benchmarks whose daemon has to be as large and as fast as in operation. */
import { readFileSync } from 'node:fs'

const launcher = readFileSync(new URL('../bin/svc', import.meta.url), 'utf8')
const [, flags = ''] = /exec "\$node"((?: --[a-z-]+=\d+)*) /.exec(launcher) ?? []

export const engineFlags: readonly string[] = flags.split(' ').filter((flag) => flag !== '')
