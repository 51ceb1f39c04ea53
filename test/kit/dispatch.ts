/** Invented results of turns and attempts, for tests of the dispatcher's state that need no database. */
import type { Begun, Claim } from '../../src/core/areas/webhooks/dispatch/claim.ts'
import type { Outcome } from '../../src/core/areas/webhooks/dispatch/record.ts'
import type { PendingClaim } from '../../src/core/areas/webhooks/dispatch/target.ts'
import type { Turn } from '../../src/core/areas/webhooks/dispatch/workspace.ts'
import type { Verdict } from '../../src/core/areas/webhooks/ladder.ts'

const begunAt = (webhookId: string): Begun => ({
  deliveryId: 'delivery',
  webhookId,
  eventId: 'event',
  n: 1,
  cause: 'EVENT',
  targetUrl: 'https://target.example.com/',
  origin: null,
  body: Buffer.alloc(0),
  keys: [],
  afterFailures: false,
})

/** The result of a turn's claims: so many attempts started at each target; some targets have nothing more due. */
export const claimed = (
  { claims }: Turn,
  started: (claim: PendingClaim) => number = ({ slots }) => slots,
  isDrained: (claim: PendingClaim) => boolean = () => false,
): Claim & { isServed: boolean } => ({
  begun: claims.flatMap((claim) => Array.from({ length: started(claim) }, () => begunAt(claim.webhookId))),
  drained: new Set(claims.filter(isDrained).map(({ webhookId }) => webhookId)),
  locked: [],
  isServed: true,
})

/** The result of an attempt at a webhook. */
export const resultOf = (webhookId: string, verdict: Verdict = { status: 'SUCCEEDED' }): Outcome => {
  const succeeded = verdict.status === 'SUCCEEDED'
  return {
    begun: begunAt(webhookId),
    status: succeeded ? 204 : 500,
    error: succeeded ? null : 'response.status',
    body: null,
    isWhole: true,
    durationMs: 5,
    trace: null,
    host: 'target.example.com',
    ended: { n: 1, cause: 'EVENT', succeeded, status: succeeded ? 204 : 500, retryAfterSeconds: undefined },
    verdict,
  }
}
