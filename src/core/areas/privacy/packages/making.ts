/**
 * Makes packages.
 *
 *    QUEUED ──claimed──▶ read at one moment into a zip on the disk ──▶ into the store of files ──▶ READY, the request DONE
 *
 * Its bytes have their note in `media_removal` before the first one is written: a killed worker leaves nothing for good, and a
 * package goes by itself. Memory holds a page of rows. Spec: Keeping, 2, K2 and Packages; docs/decisions/0464.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { makeFolder } from '../../../kernel/values/folder.ts'
import { newId } from '../../../kernel/values/id.ts'
import { removeLater } from '../../media/removal.ts'
import { isMissing, mediaStore } from '../../media/store.ts'
import { recordClosed } from '../evidence.ts'
import { tellSubject } from '../telling.ts'
import { aboutOf, type Facts, readFacts } from './about.ts'
import { linesOf, Others, sectionsOf } from './content.ts'
import { ZipWriter } from './zip.ts'

const packer: SystemActor = { kind: 'SYSTEM', job: 'make_privacy_packages' }
const claimMinutes = 30
const daySeconds = 86_400
const chunkBytes = 256 * 1024

/** Begins at once; what a run leaves, the minute's look finds (jobs.ts). */
export const makePackagesJob = defineJob({
  name: 'make_privacy_packages',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  takesLong: true,
  longestSeconds: 3600,
  run: (installation) => makePackages(installation),
})

interface Waiting {
  readonly tenant_id: string
  readonly request_id: string
}

/** Makes those that wait. */
export async function makePackages(installation: Installation): Promise<void> {
  const waiting = await installation.transaction(
    packer,
    { readOnly: true },
    ({ tx }) => tx.last<Waiting[]>`
      select tenant_id, request_id from privacy_package
      where state = 'QUEUED' and (claimed_until is null or claimed_until < now()) order by tenant_id, request_id limit 50`,
  )
  for (const { tenant_id, request_id } of waiting) await makePackage(installation, tenant_id, request_id)
}

interface Claim extends Facts {
  readonly tenantId: string
  readonly requestId: string
  readonly fileId: string
  readonly attempt: number
}

async function makePackage(installation: Installation, tenantId: string, requestId: string): Promise<void> {
  const claim = await installation.transaction(packer, { tenantId }, (ctx) => claimPackage(ctx, tenantId, requestId))
  if (!claim) return
  failpoint('package.claimed')
  try {
    await makeClaimed(installation, claim)
  } catch (error) {
    await installation.transaction(packer, { tenantId }, ({ tx }) => letGo(tx, claim)).catch(() => {})
    throw error
  }
}

/** What failed is tried again in a minute; the claim of a worker that was killed ends by itself. */
const letGo = (tx: Ctx['tx'], { tenantId, requestId, attempt }: Claim) => tx`
  update privacy_package set claimed_until = now() + interval '1 minute'
  where tenant_id = ${tenantId} and request_id = ${requestId} and state = 'QUEUED' and attempt = ${attempt}`

async function makeClaimed(installation: Installation, claim: Claim): Promise<void> {
  const { tenantId } = claim
  const spool = join(installation.config.dataDir, 'spool')
  makeFolder(spool, 0o700)
  const folder = await mkdtemp(join(spool, 'package-'))
  try {
    const path = join(folder, 'package.zip')
    const sizeBytes = await installation.snapshot(tenantId, (tx) => writeZip(installation, tx, claim, path))
    const sha256 = await store(installation, claim, path, sizeBytes)
    failpoint('package.stored')
    await installation.transaction(packer, { tenantId }, (ctx) => ready(ctx, claim, sizeBytes, sha256))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function claimPackage(ctx: Ctx, tenantId: string, requestId: string): Promise<Claim | undefined> {
  const { tx } = ctx
  const fileId = newId()
  const [claimed] = await tx<{ attempt: number }[]>`
    update privacy_package
    set attempt = attempt + 1, file_id = ${fileId}, claimed_until = now() + make_interval(mins => ${claimMinutes})
    where tenant_id = ${tenantId} and request_id = ${requestId} and state = 'QUEUED' and (claimed_until is null or claimed_until < now())
    returning attempt`
  if (!claimed) return undefined
  removeLater(ctx, tenantId, fileId, daySeconds)
  const facts = await readFacts(ctx, tenantId, requestId)
  return facts && { ...facts, tenantId, requestId, fileId, attempt: claimed.attempt }
}

async function writeZip(installation: Installation, tx: Ctx['tx'], claim: Claim, path: string): Promise<number> {
  const { tenantId, accountId, kind } = claim
  const file = await open(path, 'w', 0o600)
  try {
    const zip = new ZipWriter(file)
    const sections = sectionsOf(kind)
    await zip.add('about.json', once(aboutOf(claim, sections)))
    if (accountId === null) return await zip.end()
    const others = new Others(tenantId, accountId)
    for (const section of sections)
      await zip.add(`${section.name}.jsonl`, chunked(linesOf(tx, tenantId, accountId, section, others)))
    await addFiles(installation, tx, zip, { tenantId, accountId })
    return await zip.end()
  } finally {
    await file.close()
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'utf8')
}

async function* chunked(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const line of lines) {
    text += `${line}\n`
    if (text.length < chunkBytes) continue
    yield Buffer.from(text, 'utf8')
    text = ''
  }
  if (text !== '') yield Buffer.from(text, 'utf8')
}

interface Uploaded {
  readonly id: string
  readonly filename: string
  readonly size_bytes: string
}

/** The bytes of what the person uploaded, each in a folder of its id: names of files are not unique. */
async function addFiles(
  installation: Installation,
  tx: Ctx['tx'],
  zip: ZipWriter,
  { tenantId, accountId }: { readonly tenantId: string; readonly accountId: string },
): Promise<void> {
  const store = mediaStore(installation)
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const files = await tx<Uploaded[]>`
      select id, filename, size_bytes::text as size_bytes from media
      where tenant_id = ${tenantId} and created_by = ${accountId} and state = 'READY' and withheld_at is null and id > ${after}::uuid
      order by id limit 100`
    for (const { id, filename, size_bytes } of files) {
      const bytes = await store.read({ tenantId, mediaId: id }).catch((error: unknown) => {
        if (isMissing(error)) return undefined
        throw error
      })
      if (bytes) await zip.add(`files/${id}/${safeName(filename)}`, bytes, { isPacked: true, size: Number(size_bytes) })
    }
    const last = files.at(-1)
    if (files.length < 100 || !last) return
    after = last.id
  }
}

/** No path, and nothing that a program takes for one. */
const safeName = (name: string) => name.replaceAll(/[\p{Cc}/\\:]/gu, '_').replace(/^\.+/, '_') || 'file'

async function store(installation: Installation, claim: Claim, path: string, sizeBytes: number): Promise<string> {
  const { tenantId, fileId } = claim
  const hash = createHash('sha256')
  const writing = await mediaStore(installation).write({ tenantId, mediaId: fileId }, { offset: 0, sizeBytes })
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
      hash.update(chunk as Buffer)
      await writing.write(Buffer.from(chunk as Buffer))
    }
    await writing.finish()
  } finally {
    await writing.close()
  }
  return hash.digest('hex')
}

/** It can be fetched from now on, unless another attempt has it. */
async function ready(ctx: Ctx, claim: Claim, sizeBytes: number, sha256: string): Promise<void> {
  const { tx, config } = ctx
  const { tenantId, requestId, accountId, fileId, attempt, kind } = claim
  const [made] = await tx<{ expires_at: string | null }[]>`
    update privacy_package
    set state = 'READY', claimed_until = null, size_bytes = ${sizeBytes}, sha256 = ${sha256}, ready_at = now(),
        expires_at = now() + make_interval(days => ${config.privacy.packageDays})
    where tenant_id = ${tenantId} and request_id = ${requestId} and state = 'QUEUED' and attempt = ${attempt}
    returning expires_at`
  if (!made?.expires_at) return
  await tx`
    update media_removal set due_at = ${made.expires_at}::timestamptz + interval '1 hour'
    where tenant_id = ${tenantId} and media_id = ${fileId}`
  const done = await tx`
    update privacy_request set state = 'DONE', closed_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${requestId} and state = 'GRANTED'`
  if (done.count === 0) return
  await recordClosed(ctx, { id: requestId, kind }, 'DONE')
  await tellSubject(ctx, 'privacy_packaged', { tenantId, requestId, accountId, at: made.expires_at })
}
