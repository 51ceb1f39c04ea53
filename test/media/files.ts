/** A desk with an installation over its database, and short words for what the tests of media do with files. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { examineMedia } from '../../src/core/areas/media/examination.ts'
import { sweepWorkspace } from '../../src/core/areas/media/sweep.ts'
import type { Media } from '../../src/core/contract/media/operations.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import { mediaFolderOf } from '../../src/core/kernel/config/media-settings.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Answered, Sending } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

type As = Sending & { readonly as?: Person }

export interface Files extends Omit<Desk, 'read'> {
  readonly installation: Installation
  /** The folder of the workspace in the store. */
  readonly folder: string
  begin(sizeBytes: number, members?: object, as?: Person): Promise<Media>
  send(media: { readonly id: string }, bytes: Buffer, more?: As): Promise<Answered>
  /** Does what the worker does with every file that waits for it. */
  examine(): Promise<void>
  /** Uploads and examines a file. */
  file(bytes: Buffer | string, members?: object, as?: Person): Promise<Media>
  read(media: { readonly id: string }, as?: Person): Promise<Media>
  content(media: { readonly id: string }, more?: As, query?: string): Promise<Answered>
  sweep(): Promise<void>
  /** The files in the store, by their names. */
  stored(): string[]
  quota(): Promise<number>
}

export const sha256Of = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

/** A picture of one point. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export async function openFiles(config: Partial<Config> = {}): Promise<Files> {
  const desk = await openDesk(config)
  const { daemon, tenantId, ask, people } = desk
  const { sql } = daemon.db
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc test' })
  const { installation } = booted
  const folder = mediaFolderOf(daemon.config.media, tenantId)
  const headers = { 'content-type': 'application/octet-stream' }

  const begin: Files['begin'] = async (size_bytes, members, as = people.MEMBER) => {
    const { status, json, text } = await ask('POST /media', { filename: 'a file', size_bytes, ...members }, { as })
    if (status !== 201) throw new Error(`${status} ${text}`)
    return json as Media
  }
  const send: Files['send'] = ({ id }, bytes, { as = people.MEMBER, headers: more, ...rest } = {}) =>
    ask(`PUT /media/${id}/content`, bytes, { as, headers: { ...headers, ...more }, ...rest })
  const examine: Files['examine'] = async () => {
    const queued = await sql`
      select j.data from pgboss.job j join media m on m.tenant_id = ${tenantId} and m.id::text = j.data ->> 'media_id'
      where j.name = 'examine_media' and m.state = 'SCANNING'`
    for (const { data } of queued) await examineMedia.run(installation, data)
  }
  const read: Files['read'] = async ({ id }, as = people.MEMBER) =>
    (await ask(`GET /media/${id}`, undefined, { as })).json as Media

  return {
    ...desk,
    installation,
    folder,
    begin,
    send,
    examine,
    read,
    async file(content, members, as) {
      const bytes = Buffer.from(content)
      const media = await begin(bytes.byteLength, members, as)
      const { status, text } = await send(media, bytes, as ? { as } : {})
      if (status !== 200) throw new Error(`${status} ${text}`)
      await examine()
      return read(media, as)
    },
    content: ({ id }, { as = people.MEMBER, ...more } = {}, query = '') =>
      ask(`GET /media/${id}/content${query}`, undefined, { as, ...more }),
    sweep: () => sweepWorkspace(installation, tenantId, new Date()),
    stored: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
    async quota() {
      const [row] = await sql`select bytes from media_tally where tenant_id = ${tenantId}`
      return Number(row?.['bytes'] ?? 0)
    },
    async close() {
      await booted.close()
      await desk.close()
    },
  }
}

/** What a refusal says. */
export const code = ({ status, json }: Answered) => [status, (json as { code?: string } | undefined)?.code]
