/** Reads the configured retry ladder; areas/webhooks/ladder.ts applies it. Spec: decisions 5. */

/** After this many failed attempts a delivery is a dead letter. */
export const attemptsAtMost = 8

/**
 * Reads SVC_WEBHOOK_RETRY_SECONDS; undefined if it is invalid. The last number of a shorter list counts for the rest.
 */
export function readLadder(text: string): readonly number[] | undefined {
  const rungs = text.split(',').map((rung) => rung.trim())
  if (rungs.length > attemptsAtMost || !rungs.every((rung) => /^[0-9]{1,7}$/.test(rung) && Number(rung) <= 2_592_000))
    return undefined
  return Array.from({ length: attemptsAtMost }, (_, at) => Number(rungs[Math.min(at, rungs.length - 1)]))
}
