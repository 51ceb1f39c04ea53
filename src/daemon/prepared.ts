/**
 * An answer that is the same for everybody while the daemon runs. It is written once and
 * compressed once in each coding.
 *
 * It is made at the first call, so that it does not delay the start. The codings are made
 * off the event loop. Each coding has its own ETag, because a strong tag stands for bytes.
 *
 * Spec: decisions 1, ETag; RFC 9110, 8.8.3.3 and 12.5.3.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isUnchanged } from '../core/kernel/values/etag.ts'

type Coding = 'br' | 'gzip' | 'identity'

interface Made {
  readonly bytes: Buffer
  readonly etag: string
}

/** Waits until the caller may be sent so many bytes. */
export type Turn = (request: FastifyRequest, bytes: number) => Promise<void>

export type Prepared = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Sends the JSON text that `write` returns at the first call; a failure is not cached. */
export function prepared(write: () => string | Promise<string>, turn: Turn): Prepared {
  const codings = new Map<Coding, Promise<Made>>()
  const made = (coding: Coding): Promise<Made> => {
    const known = codings.get(coding)
    if (known) return known
    const making = coding === 'identity' ? written(write) : made('identity').then((plain) => encoded(plain, coding))
    making.catch(() => codings.delete(coding))
    codings.set(coding, making)
    return making
  }

  return async (request, reply) => {
    const coding = codingFor(request.headers['accept-encoding'])
    const { bytes, etag } = await made(coding)
    reply.header('etag', etag).header('vary', 'accept-encoding').header('cache-control', 'no-cache')
    if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    await turn(request, bytes.length)
    return reply.header('content-type', 'application/json; charset=utf-8').send(bytes)
  }
}

async function written(write: () => string | Promise<string>): Promise<Made> {
  const bytes = Buffer.from(await write())
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }
}

const compressed = {
  // The highest quality takes 1.5 s of processor time for the whole document, and saves only a tenth.
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
}

const encoded = async ({ bytes, etag }: Made, coding: 'br' | 'gzip'): Promise<Made> => ({
  bytes: await compressed[coding](bytes),
  etag: etag.replace(/"$/, `-${coding}"`),
})

/** The best coding that the caller accepts. */
function codingFor(header: string | string[] | undefined): Coding {
  const taken = String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((entry) => entry.split(';').map((part) => part.trim()))
    .filter(([, quality]) => !/^q=0(\.0{0,3})?$/.test(quality ?? ''))
    .map(([coding]) => coding)
  return taken.includes('br') ? 'br' : taken.includes('gzip') ? 'gzip' : 'identity'
}
