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
import { Problem } from '../../contract/problem.ts'
import { DatabaseUnavailable } from '../../kernel/database/unavailable.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { makeFolder } from '../../kernel/values/folder.ts'
import { type Claim, claimJob, type JobPlace, type JobRun, type JobWork, Superseded } from '../jobs/run.ts'
import type { ArchiveForm } from './archive-form.ts'
import {
  archivePath,
  type Manifest,
  type ManifestFile,
  manifestName,
  mediaFiles,
  signatureName,
  storedOf,
} from './archive-format.ts'
import { manifestOf, signManifest } from './archive-manifest.ts'
import { ArchiveFile, type WrittenArchive, writeArchive } from './archive-writer.ts'
import { inLanes } from './lanes.ts'
import { MediaDamaged, type SentMedia, sendMedia } from './media-sending.ts'
import { openStore } from './open-store.ts'
import { type Store, StoreFailure } from './store.ts'
import { targetServing } from './target.ts'

export const mostAttempts = 3

/** A finished archive. */
export interface MadeArchive {
  readonly path: string
  readonly manifest: Manifest
  /** Of its own files at the target, without the bytes of files of people. */
  readonly ownBytes: number
}

/** What one kind of archive does otherwise than another. */
export interface ArchiveWork extends JobWork {
  formOf(installation: Installation, claim: Claim): Promise<ArchiveForm>
  /** Each in the transaction that moves the job. */
  begun?(ctx: Ctx, claim: Claim): Promise<void>
  succeeded?(ctx: Ctx, claim: Claim, made: MadeArchive): Promise<void>
  failed?(ctx: Ctx, claim: Claim, failure: string): Promise<void>
}

/** Runs an attempt at a job that is QUEUED, to its end. */
export async function attemptArchive(installation: Installation, work: ArchiveWork, place: JobPlace): Promise<void> {
  const run = await claimJob(installation, work, place, work.begun)
  if (!run) return
  try {
    await new Attempt(installation, work, run).run()
  } catch (error) {
    // After a lost database the job is resumed; every other error ends it.
    if (error instanceof Superseded || error instanceof DatabaseUnavailable) return
    const failure = failureOf(error)
    const damaged = error instanceof MediaDamaged && error.ids.length > 0 ? { damaged_media_ids: error.ids } : null
    await run.failed(failure, damaged, async (ctx) => work.failed?.(ctx, run.claim, failure))
    if (!(error instanceof StoreFailure)) throw error
  }
}

class Attempt {
  private readonly installation: Installation
  private readonly work: ArchiveWork
  private readonly job: JobRun
  private readonly claim: Claim
  private readonly targetId: string
  private readonly spool: string

  constructor(installation: Installation, work: ArchiveWork, job: JobRun) {
    this.installation = installation
    this.work = work
    this.job = job
    this.claim = job.claim
    this.targetId = String(job.claim.params['target_id'])
    this.spool = join(installation.config.dataDir, 'spool', `${job.claim.jobId}-${job.claim.attempt}`)
  }

  async run(): Promise<void> {
    const { installation, claim, spool, job } = this
    job.begin()
    let store: Store | undefined
    try {
      const target = await targetServing(installation, job.actor, claim.tenantId, this.targetId)
      if (!target) throw new StoreFailure('missing')
      // Before any row is read: a target that cannot be reached costs nothing else.
      store = await openStore(installation, target)
      const form = await this.work.formOf(installation, claim)
      const written = await this.read(form)
      failpoint('archive.read')
      await this.send(store, form, written)
    } catch (error) {
      if (store && !(error instanceof Superseded)) await store.remove(this.pathOf(claim.attempt)).catch(() => {})
      throw job.signal.aborted ? job.signal.reason : error
    } finally {
      job.rest()
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
        signal: this.job.signal,
        onRows: (done, total) => {
          this.job.progress = { phase: 'READING', done, total }
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
      this.job.progress = { phase: 'SENDING', done, total: Math.max(done, total) }
    }
    onBytes(0)
    const send = async (file: ManifestFile) => {
      this.job.signal.throwIfAborted()
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
    await this.job.beat()
    for (const { name } of ends) await store.put(`${path}/${name}`, join(this.spool, name))
    failpoint('archive.whole')
    const ofEnds = ends.reduce((sum, { bytes }) => sum + bytes, 0)
    const ownBytes = manifest.files.reduce((sum, file) => sum + storedOf(file).bytes, ofEnds)
    const made: MadeArchive = { path, manifest, ownBytes }
    await this.job.succeeded({ target_id: this.targetId, path }, done + ofEnds, async (ctx) =>
      this.work.succeeded?.(ctx, this.claim, made),
    )
  }

  /** The bytes of files of people; a backup also has a file that says where they are. */
  private async sendMedia(store: Store, form: ArchiveForm, path: string, onBytes: (bytes: number) => void) {
    const { installation, spool, claim, job } = this
    const { actor, signal } = job
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
}

function failureOf(error: unknown): string {
  if (error instanceof StoreFailure) return `target.${error.reason}`
  if (error instanceof Problem || error instanceof MediaDamaged) return error.code
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'spool.full' : 'internal'
}
