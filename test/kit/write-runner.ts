/** Writes one file whole, in its own process that a failpoint can kill: PATH CONTENT [new]. */
import { writeWhole } from '../../src/core/kernel/values/write-whole.ts'

const [path = '', content = '', kind] = process.argv.slice(2)
await writeWhole(path, content, { replaces: kind !== 'new' })
process.stdout.write('written')
