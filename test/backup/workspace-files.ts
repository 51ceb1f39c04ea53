/** Files of a workspace, put where an upload puts them: the row, the bytes in the store, and the examination. */
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { examineMedia } from '../../src/core/areas/media/examination.ts'
import { mediaStore } from '../../src/core/areas/media/store.ts'
import { mediaFolderOf } from '../../src/core/kernel/config/media-settings.ts'
import type { TestInstallation } from '../kit/installation.ts'

type Placed = Pick<TestInstallation, 'installation' | 'oracle'>

interface Workspace {
  readonly tenant: { readonly id: string }
  readonly owner: { readonly account_id: string }
}

/** A file whose last byte has come; answers its id. */
export async function uploaded(one: Placed, { tenant, owner }: Workspace, bytes: Buffer): Promise<string> {
  const id = randomUUIDv7()
  const writing = await mediaStore(one.installation).write(
    { tenantId: tenant.id, mediaId: id },
    { offset: 0, sizeBytes: bytes.length },
  )
  await writing.write(bytes)
  await writing.finish()
  await writing.close()
  await one.oracle`
    insert into media (tenant_id, id, filename, size_bytes, received_bytes, state, created_by)
    values (${tenant.id}, ${id}, ${`file ${id}`}, ${bytes.length}, ${bytes.length}, 'SCANNING', ${owner.account_id})`
  return id
}

export const examine = (one: Placed, { tenant }: Workspace, id: string) =>
  examineMedia.run(one.installation, { tenant_id: tenant.id, media_id: id })

/** The same, examined. */
export async function fileOf(one: Placed, workspace: Workspace, bytes: Buffer): Promise<string> {
  const id = await uploaded(one, workspace, bytes)
  await examine(one, workspace, id)
  return id
}

/** Where the store has the bytes of a file. */
export const storedAt = (one: Placed, tenantId: string, id: string) =>
  join(mediaFolderOf(one.installation.config.media, tenantId), id)
