/**
 * The store of files: a folder (stores/local.ts) or a bucket (stores/s3.ts).
 *
 * Both keep the same promises. Bytes that `sync` has answered outlive a power cut. A file can be read when `finish` has
 * answered, and only then its row says so: a killed daemon leaves an unfinished file, or a whole one whose row does not know
 * it yet. Every failure is `media.store_failed`, whose cause only the log has. Spec: items 4, Store; docs/decisions/0236,
 * 0350.
 */
import { Problem } from '../../contract/problem.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Egress } from '../../kernel/egress/client.ts'
import { localStore } from './stores/local.ts'
import type { MediaStore, Writing } from './stores/media-store.ts'

export type { FileKey, Writing } from './stores/media-store.ts'

/** What a store needs: an installation, or the context of a transaction. */
interface StoreSource {
  readonly config: Config
  egress(): Promise<Egress>
}

export function mediaStore(source: StoreSource): MediaStore {
  const { media } = source.config
  if (!media.bucket) return guardedStore(async () => localStore(media))
  const { bucket } = media
  return guardedStore(async () => {
    const [{ s3Store }, egress] = await Promise.all([import('./stores/s3.ts'), source.egress()])
    return s3Store(egress, bucket)
  })
}

const guardedStore = (open: () => Promise<MediaStore>): MediaStore => ({
  write: (key, where) => guarded(async () => guardedWriting(await (await open()).write(key, where))),
  read: (key, range) => guarded(async () => (await open()).read(key, range)),
  remove: (key) => guarded(async () => (await open()).remove(key)),
  async *list(tenantId) {
    try {
      yield* (await open()).list(tenantId)
    } catch (error) {
      throw storeFailed(error)
    }
  },
  removeSome: (tenantId) => guarded(async () => (await open()).removeSome(tenantId)),
})

const guardedWriting = (writing: Writing): Writing => ({
  offset: writing.offset,
  write: (bytes) => guarded(() => writing.write(bytes)),
  sync: () => guarded(() => writing.sync()),
  finish: () => guarded(() => writing.finish()),
  close: () => writing.close(),
})

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeFailed(error)
  }
}

/** The refusal of a store that failed, with its cause for the log. */
const storeFailed = (cause: unknown): Problem =>
  cause instanceof Problem ? cause : Object.assign(new Problem('media.store_failed'), { cause })

/** Whether a store failed because it has no such file. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Problem && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
