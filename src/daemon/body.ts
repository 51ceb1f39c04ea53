/**
 * Reads bodies. One parser handles every media type, so that no body bypasses it, and another one hands a file on unread.
 *
 * The media type must be that of the operation, the charset UTF-8, the bytes valid UTF-8
 * without a byte order mark, and the text JSON (kernel/values/json.ts) with at most the
 * operation's number of members and elements. An empty body counts as absent, whatever its
 * media type; the schema then decides. The framework refuses a length above the route's
 * limit without reading the body.
 *
 * Spec: decisions 1, Values and Problems; 7, Bounds at the door.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { boundsOf, ofAnyone } from '../core/contract/operation.ts'
import { Problem } from '../core/contract/problem.ts'
import { readJson } from '../core/kernel/values/json.ts'
import { bytesType, mediaTypeOf, wrongMediaType } from './refusals.ts'
import { hasBody } from './unread.ts'
import { followUpload } from './uploads.ts'

export function addBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('preParsing', (request, _reply, _payload, done) =>
    done(strangerFault(request) ?? typeFault(request) ?? null),
  )
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    // Passed to `done` and not thrown, because the framework calls this from a stream's event.
    try {
      done(null, bodyOf(request, bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  // Only an operation that takes a file gets here: any other one has refused this media type above.
  app.addContentTypeParser(bytesType, (request, payload, done) => {
    followUpload(request)
    done(null, payload)
  })
}

/** A caller without a token has the bound of anonymous callers at every operation. The connection is closed behind the rest of the body (unread.ts). */
function strangerFault({ headers, routeOptions }: FastifyRequest): Problem | undefined {
  const { operation } = routeOptions.config
  const isStranger = operation !== undefined && headers.authorization === undefined
  const limit = Math.min(routeOptions.bodyLimit, ofAnyone.bytes)
  return isStranger && Number(headers['content-length'] ?? 0) > limit
    ? new Problem('request.too_large', { limit_bytes: limit }, { headers: { connection: 'close' } })
    : undefined
}

/** A body of the wrong type is refused before it is read. */
function typeFault({ raw, headers, routeOptions, is404 }: FastifyRequest): Problem | undefined {
  const { operation } = routeOptions.config
  if (!hasBody(raw) || is404 || raw.method === 'GET' || raw.method === 'HEAD') return undefined
  // RFC 9110, 8.4: a body in an unknown coding is refused.
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    return wrongMediaType(operation).withHeaders({ 'accept-encoding': 'identity' })
  const { mediaType, charset } = contentTypeOf(headers['content-type'])
  const isRight = mediaType === mediaTypeOf(operation) && (charset === undefined || charset === 'utf-8')
  return isRight ? undefined : wrongMediaType(operation)
}

function bodyOf({ is404, routeOptions }: FastifyRequest, bytes: Buffer): unknown {
  const { operation } = routeOptions.config
  if (bytes.length === 0 || is404 || !operation) return undefined
  return readJson(textOf(bytes), boundsOf(operation).values)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Buffer): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw unreadable('json.byte_order_mark')
  try {
    return utf8.decode(bytes)
  } catch {
    throw unreadable('json.encoding')
  }
}

const unreadable = (code: string) =>
  new Problem('request.malformed', {}, { errors: [{ pointer: '', code, params: {} }] })

/** The parts of, e.g., `application/json; charset="UTF-8"`, in lower case; an unreadable value has no media type. */
function contentTypeOf(header: string | undefined): { mediaType: string; charset: string | undefined } {
  const [mediaType = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))
  return { mediaType, charset: charset?.slice('charset='.length).replace(/^"(.*)"$/, '$1') }
}
