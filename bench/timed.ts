/** How long the transactions of some work last. */
import type { Installation } from '../src/core/kernel/transaction/installation.ts'

/** The same installation with clocks that are trusted at once, and the lengths of its transactions. */
export function timed(installation: Installation): { readonly installation: Installation; readonly tookMs: number[] } {
  const tookMs: number[] = []
  const config = { ...installation.config, purgeSettleSeconds: 0 }
  const transaction: Installation['transaction'] = async (...call) => {
    const began = performance.now()
    try {
      return await installation.transaction(...call)
    } finally {
      tookMs.push(performance.now() - began)
    }
  }
  return {
    installation: Object.create(installation, { config: { value: config }, transaction: { value: transaction } }),
    tookMs,
  }
}
