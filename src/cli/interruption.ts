/**
 * Ctrl-C and SIGTERM while something is held: it is let go first, so that an embedded
 * database which this command started does not stay behind. A second signal ends at once.
 */
const codes = { SIGINT: 130, SIGTERM: 143 } as const

/** Runs `release` on a signal, then ends; answers how to stop listening. */
export function onInterruption(release: () => Promise<void>): () => void {
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const listener = () => void release().finally(() => process.exit(codes[signal]))
    process.once(signal, listener)
    return () => process.removeListener(signal, listener)
  })
  return () => {
    for (const stop of listeners) stop()
  }
}
