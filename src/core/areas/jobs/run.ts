/**
 * One attempt at a job of a row (0033): claimed, alive, ended.
 *
 * The attempt says every 5 s that it is alive. A beat that finds no row (the workspace is purged) or another attempt ends it,
 * by its signal. What ends it elsewhere is said in the transaction that ends the job: nothing is told of a job that another
 * attempt has. Spec: T-25.
 */
import type { JobKind, JobProgress } from '../../contract/jobs/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'

const heartbeatMs = 5_000

/** Another worker has the job now, or the workspace is gone. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
}

export interface Claim {
  readonly tenantId: string
  readonly jobId: string
  readonly attempt: number
  readonly params: Readonly<Record<string, unknown>>
  readonly queuedAt: string
}

export interface JobPlace {
  readonly tenantId: string
  readonly jobId: string
}

/** Work of one kind, as the worker that the trail and the log name. */
export interface JobWork {
  readonly kind: JobKind
  readonly job: string
}

type Also = (ctx: Ctx) => Promise<void>

/** Claims a job that is QUEUED; undefined: it is not. `also` runs in the same transaction. */
export function claimJob(
  installation: Installation,
  { kind, job }: JobWork,
  { tenantId, jobId }: JobPlace,
  also: (ctx: Ctx, claim: Claim) => Promise<void> = async () => {},
): Promise<JobRun | undefined> {
  const actor: SystemActor = { kind: 'SYSTEM', job }
  return installation.transaction(actor, { tenantId }, async (ctx) => {
    const [row] = await ctx.tx<{ attempt: number; params: Claim['params']; queued_at: string }[]>`
      update job set state = 'RUNNING', attempt = attempt + 1, started_at = now(), beat_at = now()
      where tenant_id = ${tenantId} and id = ${jobId} and kind = ${kind} and state = 'QUEUED'
      returning attempt, params, queued_at`
    if (!row) return undefined
    const claim: Claim = { tenantId, jobId, attempt: row.attempt, params: row.params, queuedAt: row.queued_at }
    await also(ctx, claim)
    return new JobRun(installation, actor, claim)
  })
}

export class JobRun {
  readonly claim: Claim
  readonly actor: SystemActor
  /** What the next beat says; whoever works sets it. */
  progress: JobProgress = { phase: 'READING', done: 0, total: null }
  private readonly installation: Installation
  private readonly ended = new AbortController()
  private beats: NodeJS.Timeout | undefined

  constructor(installation: Installation, actor: SystemActor, claim: Claim) {
    this.installation = installation
    this.actor = actor
    this.claim = claim
  }

  get signal(): AbortSignal {
    return this.ended.signal
  }

  begin(): void {
    this.beats = setInterval(() => void this.beat().catch((error) => this.ended.abort(error)), heartbeatMs)
  }

  rest(): void {
    clearInterval(this.beats)
  }

  /** Records that the attempt is alive, and its progress. Throws Superseded. */
  async beat(): Promise<void> {
    const { tenantId, jobId, attempt } = this.claim
    const beaten = await this.installation.transaction(
      this.actor,
      { tenantId },
      ({ tx }) => tx`
        update job set beat_at = now(), progress = ${tx.json(this.progress)}
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`,
    )
    if (beaten.count === 0) throw new Superseded('another attempt has the job')
  }

  succeeded(result: Readonly<Record<string, unknown>>, done: number, also?: Also): Promise<void> {
    const { tenantId, jobId, attempt } = this.claim
    const progress: JobProgress = { phase: 'DONE', done, total: done }
    return this.installation.transaction(this.actor, { tenantId }, async (ctx) => {
      const { tx } = ctx
      const ended = await tx`
        update job set state = 'SUCCEEDED', finished_at = now(), progress = ${tx.json(progress)}, result = ${tx.json(result)}
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`
      if (ended.count > 0) await also?.(ctx)
    })
  }

  failed(failure: string, result: Readonly<Record<string, unknown>> | null, also?: Also): Promise<void> {
    const { tenantId, jobId, attempt } = this.claim
    return this.installation.transaction(this.actor, { tenantId }, async (ctx) => {
      const { tx } = ctx
      const ended = await tx`
        update job set state = 'FAILED', finished_at = now(), failure = ${failure}, result = nullif(${tx.json(result)}, 'null'::jsonb)
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`
      if (ended.count > 0) await also?.(ctx)
    })
  }
}
