/**
 * A svc process that only holds the embedded server: prints one line when it has it
 * ({"reused":…,"daemon":…,"where":…}, or {"failure":…}), and releases it when its stdin ends.
 */
import { holdEmbedded } from '../../src/core/kernel/database/embedded.ts'

const notes: string[] = []
try {
  const embedded = await holdEmbedded(process.argv[2]!, { note: (line) => notes.push(line) })
  process.stdout.write(`${JSON.stringify({ ...embedded, notes })}\n`)
  process.stdin.resume().once('end', () => void embedded.release())
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: String(error), notes })}\n`)
}
