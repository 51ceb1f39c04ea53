/** A hostile target as a process of its own, so that what it does to others is not felt by whoever measures. Prints its URLs, and ends with its standard input. */

import { hostileKinds, hostileTarget } from './hostile-target.ts'

const target = await hostileTarget()
process.stdout.write(`${JSON.stringify(hostileKinds.map(target.url))}\n`)
process.stdin.resume().once('end', () => process.exit())
