/**
 * The list of the files whose bytes belong to an archive: each content once, as the snapshot has it.
 *
 *    READY       by its SHA-256, under which it goes to the target
 *    SCANNING    whole, but not examined: its SHA-256 is known when it is read
 *
 * What is UPLOADING is not whole, and the bytes of what is REFUSED are gone. The list is a file of the spool, because the
 * bytes are read when the snapshot has ended, and a workspace may have any number of them.
 *
 * Spec: Admin: workspaces, rule 4; items 8; docs/decisions/0275.
 */
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { quotedId } from '../../kernel/database/roles.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

export interface ListedMedia {
  readonly mediaId: string
  readonly bytes: number
  /** Undefined: nobody has examined it. */
  readonly sha256: string | undefined
}

const listIn = (spool: string) => join(spool, 'media.list')

/** Answers what the manifest says of the files that are READY. */
export async function writeMediaList(
  tx: Tx,
  tenantId: string,
  spool: string,
): Promise<{ count: number; bytes: number }> {
  const list = createWriteStream(listIn(spool), { flags: 'wx', mode: 0o600 })
  const written = finished(list)
  written.catch(() => {}) // awaited below, after the copy has noticed as well
  let count = 0
  let bytes = 0
  await tx.copyOut(
    `copy (select distinct on (sha256, case when state = 'SCANNING' then id end)
             id, size_bytes, case when state = 'READY' then sha256 end
           from media where tenant_id = ${quotedId(tenantId)} and state in ('READY', 'SCANNING')
           order by sha256, case when state = 'SCANNING' then id end, id) to stdout`,
    (packet, from, end) => {
      const line = packet.toString('latin1', from, end)
      const media = readLine(line.trimEnd())
      if (media.sha256 !== undefined) {
        count += 1
        bytes += media.bytes
      }
      return list.write(line) ? undefined : once(list, 'drain').then(() => {})
    },
  )
  list.end()
  await written
  return { count, bytes }
}

/** The list again, line by line. */
export async function* readMediaList(spool: string): AsyncGenerator<ListedMedia> {
  for await (const line of createInterface({ input: createReadStream(listIn(spool)) })) yield readLine(line)
}

function readLine(line: string): ListedMedia {
  const [mediaId = '', bytes = '', sha256 = ''] = line.split('\t')
  return { mediaId, bytes: Number(bytes), sha256: sha256 === '\\N' ? undefined : sha256 }
}
