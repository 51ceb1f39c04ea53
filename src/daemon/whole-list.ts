/**
 * Writes a whole list page by page as `{"data":[…]}`.
 *
 * The next page is read only after the caller has read the last one. So memory is bounded by
 * one page, however long the list is and however slow the caller. The first page is read
 * before the status is sent, so that it can still be refused. A later failure cuts the
 * connection, because an incomplete list must not look complete.
 *
 * Spec: decisions 1, Lists; 4, `GET /admin/tenants` answers all.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { writeJson } from '../core/kernel/values/json.ts'
import type { Readers } from './readers.ts'

export async function sendWholeList(
  reply: FastifyReply,
  pages: AsyncGenerator<readonly unknown[]>,
  readers: Readers,
): Promise<FastifyReply> {
  const first = await pages.next()
  if (reply.request.method === 'HEAD') {
    await pages.return(undefined)
    return reply.header('content-type', 'application/json; charset=utf-8').send()
  }

  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
  try {
    raw.write('{"data":[')
    let isFirst = true
    for (let page = first; !page.done; page = await pages.next()) {
      const rows = page.value.map((row) => writeJson(row)).join(',')
      if (rows === '') continue
      readers.hold(reply.request, raw, Buffer.byteLength(rows))
      const hasRoom = raw.write(isFirst ? rows : `,${rows}`)
      isFirst = false
      if (!hasRoom) await drained(raw)
      if (raw.destroyed) break
    }
    raw.end(']}')
  } catch (error) {
    raw.destroy()
    // The status is already sent, so the failure can only be logged, which the response's hook cannot do.
    reply.request.failed(error)
  } finally {
    await pages.return(undefined)
  }
  return reply
}

/** Resolves when the caller has read the written bytes or has left. */
export function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      raw.off('drain', settle).off('close', settle)
      resolve()
    }
    raw.once('drain', settle).once('close', settle)
    if (raw.destroyed) settle()
  })
}
