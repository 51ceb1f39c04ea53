/**
 * The export: one attempt at one workspace's archive.
 *
 *    QUEUED ──claim──▶ RUNNING ──▶ SUCCEEDED
 *       ▲                │  └─the target fails─▶ FAILED (asking again makes a new job)
 *       └──no beat for a minute, at most 3 attempts (a worker that was killed)
 *
 *    snapshot → spool → target, file by file → bytes of media → manifest
 *
 * Always true:
 *  - the manifest is put last, so an archive that has one is whole;
 *  - each attempt has a folder of its own at the target, and checks before the manifest
 *    whether it is still the current one: a worker that was given up but lives cannot finish;
 *  - the attempt updates `beat_at` while it runs; a beat that finds no row (the workspace is
 *    purged) or another attempt ends it.
 *
 * Not guaranteed: that a killed attempt leaves nothing at the target. The next one
 * removes what it finds; a folder without a manifest is never listed as complete.
 *
 * Spec: Admin: workspaces, rule 4; T-25, F-08.
 */
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { JobProgress } from '../../contract/jobs/operations.ts'
import { Problem } from '../../contract/problem.ts'
import { DatabaseUnavailable } from '../../kernel/database/unavailable.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { makeFolder } from '../../kernel/values/folder.ts'
import { archivePath, type Manifest, type ManifestFile, manifestName } from './archive-format.ts'
import { writeArchive } from './archive-writer.ts'
import { inLanes } from './lanes.ts'
import { MediaDamaged, sendMedia } from './media-sending.ts'
import { openStore } from './open-store.ts'
import { type Store, StoreFailure } from './store.ts'
import { targetServing } from './target.ts'

const system: SystemActor = { kind: 'SYSTEM', job: 'export_tenant' }
const heartbeatMs = 5_000
export const mostAttempts = 3

/** Another worker has the job now, or the workspace is gone. */
class Superseded extends Error {
  override readonly name = 'Superseded'
}

interface Claim {
  readonly tenantId: string
  readonly jobId: string
  readonly attempt: number
  readonly targetId: string
  readonly queuedAt: string
}

export const exportTenantJob = defineJob({
  name: 'export_tenant',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  // The row decides what is run again (resume-jobs.ts), not the queue.
  retryLimit: 0,
  atOnce: 2,
  takesLong: true,
  longestSeconds: 23 * 3600,
  async run(installation, { tenantId, jobId }) {
    const claim = await claimJob(installation, tenantId, jobId)
    if (!claim) return
    const attempt = new Attempt(installation, claim)
    try {
      await attempt.run()
    } catch (error) {
      // After a lost database the job is resumed; every other error ends it.
      if (error instanceof Superseded || error instanceof DatabaseUnavailable) return
      await attempt.failed(failureOf(error), error instanceof MediaDamaged ? error.ids : [])
      if (!(error instanceof StoreFailure)) throw error
    }
  },
})

async function claimJob(installation: Installation, tenantId: string, jobId: string): Promise<Claim | undefined> {
  const [row] = await installation.transaction(
    system,
    { tenantId },
    (ctx) => ctx.tx<{ attempt: number; target_id: string; queued_at: string }[]>`
      update job set state = 'RUNNING', attempt = attempt + 1, started_at = now(), beat_at = now()
      where tenant_id = ${tenantId} and id = ${jobId} and state = 'QUEUED'
      returning attempt, params->>'target_id' as target_id, queued_at`,
  )
  return row && { tenantId, jobId, attempt: row.attempt, targetId: row.target_id, queuedAt: row.queued_at }
}

class Attempt {
  private readonly installation: Installation
  private readonly claim: Claim
  private readonly ended = new AbortController()
  private readonly spool: string
  private progress: JobProgress = { phase: 'READING', done: 0, total: null }

  constructor(installation: Installation, claim: Claim) {
    this.installation = installation
    this.claim = claim
    this.spool = join(installation.config.dataDir, 'spool', `${claim.jobId}-${claim.attempt}`)
  }

  async run(): Promise<void> {
    const { installation, claim, spool } = this
    const heartbeats = setInterval(() => void this.heartbeat().catch((error) => this.ended.abort(error)), heartbeatMs)
    let store: Store | undefined
    try {
      const target = await targetServing(installation, system, claim.tenantId, claim.targetId)
      if (!target) throw new StoreFailure('missing')
      // Before any row is read: a target that cannot be reached costs nothing else.
      store = await openStore(installation, target)
      const manifest = await this.read()
      await this.send(store, manifest)
    } catch (error) {
      if (store && !(error instanceof Superseded)) await store.remove(this.pathOf(claim.attempt)).catch(() => {})
      throw this.ended.signal.aborted ? this.ended.signal.reason : error
    } finally {
      clearInterval(heartbeats)
      await store?.close()
      await rm(spool, { recursive: true, force: true })
    }
  }

  private pathOf(attempt: number): string {
    const { tenantId, jobId, queuedAt } = this.claim
    return archivePath({ tenantId, jobId, createdAt: queuedAt, attempt })
  }

  private read(): Promise<Manifest> {
    const { tenantId, jobId } = this.claim
    return this.installation.snapshot(tenantId, async (tx) => {
      await rm(this.spool, { recursive: true, force: true })
      makeFolder(this.spool, 0o700)
      return writeArchive(tx, {
        tenantId,
        jobId,
        folder: this.spool,
        signal: this.ended.signal,
        onRows: (done, total) => {
          this.progress = { phase: 'READING', done, total }
        },
      })
    })
  }

  /** Sends the files, checks that they have arrived whole, and only then sends the manifest. */
  private async send(store: Store, manifest: Manifest): Promise<void> {
    const path = this.pathOf(this.claim.attempt)
    for (let earlier = 1; earlier <= this.claim.attempt; earlier += 1) await store.remove(this.pathOf(earlier))
    const ofRows = manifest.files.reduce((sum, file) => sum + file.compressed_bytes, 0)
    const total = ofRows + manifest.media.bytes
    let done = 0
    const onBytes = (bytes: number) => {
      done += bytes
      this.progress = { phase: 'SENDING', done, total: Math.max(done, total) }
    }
    onBytes(0)
    const send = async ({ name, compressed_bytes }: ManifestFile) => {
      this.ended.signal.throwIfAborted()
      await store.put(`${path}/${name}`, join(this.spool, name))
      onBytes(compressed_bytes)
    }
    const [first, ...others] = manifest.files
    if (first) await send(first) // makes the folder
    // Most are small, and each waits for the target's disk or its answer.
    await inLanes(store.width, others, send)
    await this.checkArrived(store, path, manifest)
    const unexamined = await this.sendMedia(store, path, onBytes)
    const file = join(this.spool, manifestName)
    const told = unexamined.length === 0 ? manifest : { ...manifest, media: { ...manifest.media, unexamined } }
    await writeFile(file, `${JSON.stringify(told, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
    await this.heartbeat()
    await store.put(`${path}/${manifestName}`, file)
    await this.succeeded(path, done + (await stat(file)).size)
  }

  private sendMedia(store: Store, path: string, onBytes: (bytes: number) => void) {
    const { installation, spool, claim, ended } = this
    const { tenantId } = claim
    return sendMedia(store, { installation, actor: system, tenantId, spool, path, signal: ended.signal, onBytes })
  }

  private async checkArrived(store: Store, path: string, manifest: Manifest): Promise<void> {
    const arrived = new Map<string, number>()
    for await (const file of store.list(path)) arrived.set(file.path, file.sizeBytes)
    for (const { name, compressed_bytes } of manifest.files)
      if (arrived.get(`${path}/${name}`) !== compressed_bytes) throw new StoreFailure('failed')
  }

  /** Records that the attempt is alive, and its progress. Throws Superseded. */
  private async heartbeat(): Promise<void> {
    const { tenantId, jobId, attempt } = this.claim
    const beaten = await this.installation.transaction(
      system,
      { tenantId },
      ({ tx }) => tx`
        update job set beat_at = now(), progress = ${tx.json(this.progress)}
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`,
    )
    if (beaten.count === 0) throw new Superseded('another attempt has the job')
  }

  private async succeeded(path: string, bytes: number): Promise<void> {
    const { tenantId, jobId, attempt, targetId } = this.claim
    const progress: JobProgress = { phase: 'DONE', done: bytes, total: bytes }
    await this.installation.transaction(
      system,
      { tenantId },
      ({ tx }) => tx`
        update job set state = 'SUCCEEDED', finished_at = now(), progress = ${tx.json(progress)}, result = ${tx.json({ target_id: targetId, path })}
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`,
    )
  }

  async failed(code: string, damaged: readonly string[]): Promise<void> {
    const result = damaged.length === 0 ? null : { damaged_media_ids: damaged }
    const { tenantId, jobId, attempt } = this.claim
    await this.installation.transaction(
      system,
      { tenantId },
      ({ tx }) => tx`
        update job set state = 'FAILED', finished_at = now(), failure = ${code}, result = nullif(${tx.json(result)}, 'null'::jsonb)
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`,
    )
  }
}

function failureOf(error: unknown): string {
  if (error instanceof StoreFailure) return `target.${error.reason}`
  if (error instanceof Problem || error instanceof MediaDamaged) return error.code
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'spool.full' : 'internal'
}
