/**
 * On Ctrl-C and SIGTERM a command first releases what it holds, so that an embedded database
 * that it started does not keep running. A second signal ends the process at once.
 */
const codes = { SIGINT: 130, SIGTERM: 143 } as const

/** Runs `release` on a signal, then ends the process; returns a function that stops listening. */
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
