/**
 * A hostile target in its own process, so that its work does not disturb measurements. Prints its URLs, and ends with
 * its standard input.
 */

import { hostileKinds, hostileTarget } from './hostile-target.ts'

const target = await hostileTarget()
process.stdout.write(`${JSON.stringify(hostileKinds.map(target.url))}\n`)
process.stdin.resume().once('end', () => process.exit())
