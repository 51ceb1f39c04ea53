/**
 * Writes the log's lines to a file or a pipe: many at a time, in their order, and never at
 * the daemon's expense.
 *
 * What a full disk or a slow reader refuses waits here and is tried again. When `mostHeld`
 * waits already, a line is lost and counted; the log says how many were, as soon as it takes
 * lines again. A line is there whole or not at all, unless the process ends in the middle.
 *
 * Not pino's own destination: there any failure but a closed pipe ends the process, nothing
 * bounds what waits, and the flush at the end tries a full disk again for ever.
 */
import { write } from 'node:fs'

export interface LogLines {
  write(line: string): void
  /** Writes what waits; resolves when all of it is written, or a write has failed. */
  flush(): Promise<void>
  /** `tell` hears how many lines were lost, when there is room again. */
  onLost(tell: (lines: number) => void): void
}

/** Characters that are written together; fewer after `restMs`. */
const together = 4_096
const restMs = 100
/** Characters: some 4,000 lines. */
const mostHeld = 1_048_576

export function openLogLines(descriptor: number): LogLines {
  let held = ''
  let rest: Buffer = Buffer.alloc(0)
  let lost = 0
  let isWriting = false
  let timer: NodeJS.Timeout | undefined
  let tellLost: ((lines: number) => void) | undefined
  const flushing: (() => void)[] = []

  const writeNext = () => {
    clearTimeout(timer)
    timer = undefined
    if (rest.length === 0) {
      rest = Buffer.from(held)
      held = ''
      confessLost() // behind what was kept, where the lost ones would have stood
    }
    isWriting = true
    write(descriptor, rest, written)
  }

  const written = (error: Error | null, bytes: number) => {
    isWriting = false
    if (error) {
      // Nobody can be told. A process that ends does not wait for the disk to have room.
      timer = setTimeout(writeNext, restMs).unref()
    } else {
      rest = rest.subarray(bytes)
      if (rest.length > 0 || held.length >= together || (flushing.length > 0 && held !== '')) return writeNext()
      if (held !== '') timer = setTimeout(writeNext, restMs)
    }
    for (const done of flushing.splice(0)) done()
  }

  const confessLost = () => {
    const lines = lost
    lost = 0
    if (lines > 0) tellLost?.(lines)
  }

  return {
    write(line) {
      if (held.length + line.length > mostHeld) {
        lost += 1
        return
      }
      held += line
      if (isWriting || rest.length > 0) return
      if (held.length >= together) writeNext()
      else timer ??= setTimeout(writeNext, restMs)
    },
    flush: () =>
      new Promise((resolve) => {
        if (held === '' && rest.length === 0) return resolve()
        flushing.push(resolve)
        if (!isWriting) writeNext()
      }),
    onLost(tell) {
      tellLost = tell
    },
  }
}
