/**
 * When a source is sent a large answer that is the same for everybody: at a pace that leaves the daemon time for others.
 *
 * The OpenAPI document has megabytes, and anybody may ask for it. Nothing is refused: what one source asks for behind each
 * other waits, and so a flood waits for itself. Others do not wait. The number of remembered sources is bounded.
 *
 * Spec: decisions 7 (Overload).
 */
import { setTimeout } from 'node:timers/promises'

export interface DocumentTurns {
  /** Waits until the source may be sent so many bytes. */
  wait(source: string, bytes: number): Promise<void>
}

/** 20 MB a second, of which the document takes a sixth without compression. */
const bytesPerMs = 20_000
const mostRemembered = 10_000

/** `now` and `pause` in ms. */
export function openDocumentTurns(
  now = () => performance.now(),
  pause: (ms: number) => Promise<unknown> = setTimeout,
): DocumentTurns {
  /** When the next one may begin, in ms; in the order of the last asking. */
  const freeAt = new Map<string, number>()
  return {
    async wait(source, bytes) {
      const moment = now()
      const begins = Math.max(freeAt.get(source) ?? 0, moment)
      freeAt.delete(source)
      freeAt.set(source, begins + bytes / bytesPerMs)
      for (const [known, at] of freeAt) {
        if (at > moment && freeAt.size <= mostRemembered) break
        freeAt.delete(known)
      }
      if (begins > moment) await pause(begins - moment)
    },
  }
}
