/**
 * The flags with which bin/svc starts Node, for tests and benchmarks whose daemon must have the memory and speed of
 * production.
 */
import { readFileSync } from 'node:fs'

const launcher = readFileSync(new URL('../bin/svc', import.meta.url), 'utf8')
const [, flags = ''] = /exec "\$node"((?: --[a-z-]+=\d+)*) /.exec(launcher) ?? []

export const engineFlags: readonly string[] = flags.split(' ').filter((flag) => flag !== '')
