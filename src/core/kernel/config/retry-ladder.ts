/** The retry ladder as it is configured; what is done with it is areas/webhooks/ladder.ts's. Spec: decisions 5. */

/** A delivery that failed as often is in the dead letter. */
export const attemptsAtMost = 8

/** Reads SVC_WEBHOOK_RETRY_SECONDS; undefined where it is none. Of a shorter list the last number counts for the rest. */
export function readLadder(text: string): readonly number[] | undefined {
  const rungs = text.split(',').map((rung) => rung.trim())
  if (rungs.length > attemptsAtMost || !rungs.every((rung) => /^[0-9]{1,7}$/.test(rung) && Number(rung) <= 2_592_000))
    return undefined
  return Array.from({ length: attemptsAtMost }, (_, at) => Number(rungs[Math.min(at, rungs.length - 1)]))
}
