/**
 * One attempt at one workspace's archive: an export or a backup.
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
 * Spec: Admin: workspaces, rule 4; Keeping, 3; T-25, F-08.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobProgress } from '../../contract/jobs/operations.ts'
import { Problem } from '../../contract/problem.ts'
import { DatabaseUnavailable } from '../../kernel/database/unavailable.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { makeFolder } from '../../kernel/values/folder.ts'
import type { ArchiveForm } from './archive-form.ts'
import { archivePath, type Manifest, type ManifestFile, manifestName, mediaFiles, signatureName, storedOf } from './archive-format.ts'
import { manifestOf, signManifest } from './archive-manifest.ts'
import { ArchiveFile, type WrittenArchive, writeArchive } from './archive-writer.ts'
import { inLanes } from './lanes.ts'
import { MediaDamaged, type SentMedia, sendMedia } from './media-sending.ts'
import { openStore } from './open-store.ts'
import { type Store, StoreFailure } from './store.ts'
import { targetServing } from './target.ts'

const heartbeatMs = 5_000
export const mostAttempts = 3

/** Another worker has the job now, or the workspace is gone. */
class Superseded extends Error {
  override readonly name = 'Superseded'
}

export interface Claim {
  readonly tenantId: string
  readonly jobId: string
  readonly attempt: number
  readonly targetId: string
  readonly queuedAt: string
}

/** A finished archive. */
export interface MadeArchive {
  readonly path: string
  readonly manifest: Manifest
  /** Of all that the archive has at the target, files of people too. */
  readonly bytes: number
  readonly ownBytes: number
}

/** What one kind of archive does otherwise than another. */
export interface ArchiveWork {
  readonly job: string
  formOf(installation: Installation, claim: Claim): Promise<ArchiveForm>
  /** Each in the transaction that moves the job. */
  begun?(ctx: Ctx, claim: Claim): Promise<void>
  succeeded?(ctx: Ctx, claim: Claim, made: MadeArchive): Promise<void>
  failed?(ctx: Ctx, claim: Claim, failure: string): Promise<void>
}

/** Runs an attempt at a job that is QUEUED, to its end. */
export async function attemptArchive(
  installation: Installation,
  work: ArchiveWork,
  { tenantId, jobId }: { readonly tenantId: string; readonly jobId: string },
): Promise<void> {
  const claim = await claimJob(installation, work, tenantId, jobId)
  if (!claim) return
  const attempt = new Attempt(installation, work, claim)
  try {
    await attempt.run()
  } catch (error) {
    // After a lost database the job is resumed; every other error ends it.
    if (error instanceof Superseded || error instanceof DatabaseUnavailable) return
    await attempt.failed(failureOf(error), error instanceof MediaDamaged ? error.ids : [])
    if (!(error instanceof StoreFailure)) throw error
  }
}

function claimJob(installation: Installation, work: ArchiveWork, tenantId: string, jobId: string) {
  return installation.transaction({ kind: 'SYSTEM', job: work.job }, { tenantId }, async (ctx) => {
    const [row] = await ctx.tx<{ attempt: number; target_id: string; queued_at: string }[]>`
      update job set state = 'RUNNING', attempt = attempt + 1, started_at = now(), beat_at = now()
      where tenant_id = ${tenantId} and id = ${jobId} and state = 'QUEUED'
      returning attempt, params->>'target_id' as target_id, queued_at`
    if (!row) return undefined
    const claim: Claim = { tenantId, jobId, attempt: row.attempt, targetId: row.target_id, queuedAt: row.queued_at }
    await work.begun?.(ctx, claim)
    return claim
  })
}

class Attempt {
  private readonly installation: Installation
  private readonly work: ArchiveWork
  private readonly claim: Claim
  private readonly actor: SystemActor
  private readonly ended = new AbortController()
  private readonly spool: string
  private progress: JobProgress = { phase: 'READING', done: 0, total: null }

  constructor(installation: Installation, work: ArchiveWork, claim: Claim) {
    this.installation = installation
    this.work = work
    this.claim = claim
    this.actor = { kind: 'SYSTEM', job: work.job }
    this.spool = join(installation.config.dataDir, 'spool', `${claim.jobId}-${claim.attempt}`)
  }

  async run(): Promise<void> {
    const { installation, claim, spool } = this
    const heartbeats = setInterval(() => void this.heartbeat().catch((error) => this.ended.abort(error)), heartbeatMs)
    let store: Store | undefined
    try {
      const target = await targetServing(installation, this.actor, claim.tenantId, claim.targetId)
      if (!target) throw new StoreFailure('missing')
      // Before any row is read: a target that cannot be reached costs nothing else.
      store = await openStore(installation, target)
      const form = await this.work.formOf(installation, claim)
      const written = await this.read(form)
      failpoint('archive.read')
      await this.send(store, form, written)
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

  private read(form: ArchiveForm): Promise<WrittenArchive> {
    const { tenantId } = this.claim
    return this.installation.snapshot(tenantId, async (tx) => {
      await rm(this.spool, { recursive: true, force: true })
      makeFolder(this.spool, 0o700)
      return writeArchive(tx, {
        tenantId,
        form,
        folder: this.spool,
        signal: this.ended.signal,
        onRows: (done, total) => {
          this.progress = { phase: 'READING', done, total }
        },
      })
    })
  }

  /** Sends the files, checks that they have arrived whole, and only then sends the manifest. */
  private async send(store: Store, form: ArchiveForm, written: WrittenArchive): Promise<void> {
    const path = this.pathOf(this.claim.attempt)
    for (let earlier = 1; earlier <= this.claim.attempt; earlier += 1) await store.remove(this.pathOf(earlier))
    const total = written.files.reduce((sum, file) => sum + storedOf(file).bytes, written.media.bytes)
    let done = 0
    const onBytes = (bytes: number) => {
      done += bytes
      this.progress = { phase: 'SENDING', done, total: Math.max(done, total) }
    }
    onBytes(0)
    const send = async (file: ManifestFile) => {
      this.ended.signal.throwIfAborted()
      await store.put(`${path}/${file.name}`, join(this.spool, file.name))
      onBytes(storedOf(file).bytes)
    }
    const [first, ...others] = written.files
    if (first) await send(first) // makes the folder
    // Most are small, and each waits for the target's disk or its answer.
    await inLanes(store.width, others, send)
    const sent = await this.sendMedia(store, form, path, onBytes)
    if (sent.index) await send(sent.index)
    const manifest = manifestOf(written, this.claim, form, sent)
    await this.checkArrived(store, path, manifest)
    failpoint('archive.sent')
    const ends = await this.writeEnds(manifest)
    await this.heartbeat()
    for (const { name } of ends) await store.put(`${path}/${name}`, join(this.spool, name))
    failpoint('archive.whole')
    const ofEnds = ends.reduce((sum, { bytes }) => sum + bytes, 0)
    const ownBytes = manifest.files.reduce((sum, file) => sum + storedOf(file).bytes, ofEnds)
    await this.succeeded({ path, manifest, bytes: done + ofEnds, ownBytes })
  }

  /** The bytes of files of people; a backup also has a file that says where they are. */
  private async sendMedia(store: Store, form: ArchiveForm, path: string, onBytes: (bytes: number) => void) {
    const { installation, spool, claim, ended, actor } = this
    const { signal } = ended
    const index = form.kind === 'TENANT_BACKUP' ? new ArchiveFile(spool, mediaFiles, form, signal) : undefined
    const sending = { installation, actor, tenantId: claim.tenantId, form, spool, path, signal, onBytes }
    try {
      const unexamined = await sendMedia(store, {
        ...sending,
        ...(index && { onSent: (one: SentMedia) => index.write(Buffer.from(`${JSON.stringify(one)}\n`), 1) }),
      })
      return { unexamined, index: await index?.end() }
    } catch (error) {
      index?.fail(error as Error)
      throw error
    }
  }

  /** The last files of an archive, in their order: with the manifest it is whole. */
  private async writeEnds(manifest: Manifest) {
    const text = `${JSON.stringify(manifest, null, 2)}\n`
    const ends = [{ name: manifestName, text }]
    if (manifest.kind === 'TENANT_BACKUP')
      ends.unshift({ name: signatureName, text: signManifest(this.installation.keyring, text) })
    for (const { name, text } of ends) await writeFile(join(this.spool, name), text, { flag: 'wx', mode: 0o600 })
    return ends.map(({ name, text }) => ({ name, bytes: Buffer.byteLength(text) }))
  }

  private async checkArrived(store: Store, path: string, manifest: Manifest): Promise<void> {
    const arrived = new Map<string, number>()
    for await (const file of store.list(path)) arrived.set(file.path, file.sizeBytes)
    for (const file of manifest.files)
      if (arrived.get(`${path}/${file.name}`) !== storedOf(file).bytes) throw new StoreFailure('failed')
  }

  /** Records that the attempt is alive, and its progress. Throws Superseded. */
  private async heartbeat(): Promise<void> {
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

  private succeeded(made: MadeArchive): Promise<void> {
    const { tenantId, jobId, attempt, targetId } = this.claim
    const progress: JobProgress = { phase: 'DONE', done: made.bytes, total: made.bytes }
    return this.installation.transaction(this.actor, { tenantId }, async (ctx) => {
      const { tx } = ctx
      const ended = await tx`
        update job set state = 'SUCCEEDED', finished_at = now(), progress = ${tx.json(progress)}, result = ${tx.json({ target_id: targetId, path: made.path })}
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`
      if (ended.count > 0) await this.work.succeeded?.(ctx, this.claim, made)
    })
  }

  failed(code: string, damaged: readonly string[]): Promise<void> {
    const result = damaged.length === 0 ? null : { damaged_media_ids: damaged }
    const { tenantId, jobId, attempt } = this.claim
    return this.installation.transaction(this.actor, { tenantId }, async (ctx) => {
      const { tx } = ctx
      const ended = await tx`
        update job set state = 'FAILED', finished_at = now(), failure = ${code}, result = nullif(${tx.json(result)}, 'null'::jsonb)
        where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`
      if (ended.count > 0) await this.work.failed?.(ctx, this.claim, code)
    })
  }
}

function failureOf(error: unknown): string {
  if (error instanceof StoreFailure) return `target.${error.reason}`
  if (error instanceof Problem || error instanceof MediaDamaged) return error.code
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'spool.full' : 'internal'
}
