/**
 * What the head of a request must be before a route is looked for.
 *
 * Node's parser takes what this daemon and a proxy before it could read in two ways: two
 * values of a header that has one, a target that names another host than the Host header,
 * a body in a coding that nobody undoes. Each is refused, and the connection ends there.
 *
 * Spec: decisions 1, Problems; RFC 9110, 5.3; RFC 9112, 3.2 and 6.1.
 */
import type { FastifyRequest } from 'fastify'
import type { Violation } from '../core/contract/problem.ts'
import { readHost } from './host.ts'

/** Headers of one value. Node drops the second one of most of them without a word. */
const single = new Map(
  [
    'Host',
    'Authorization',
    'Idempotency-Key',
    'X-Service-Step-Up',
    'Content-Type',
    'Content-Length',
    'Transfer-Encoding',
  ].map((name) => [name.toLowerCase(), name]),
)

const absolute = /^(https?):\/\/([^/?#]*)(.*)$/is

/** The target as a path: `http://host/path` is what proxies are sent, and every server has to take it. */
export function pathOfTarget(target = ''): string {
  if (target.startsWith('/')) return target
  const [, , , path] = absolute.exec(target) ?? []
  if (path === undefined) return target
  return path.startsWith('/') ? path : `/${path}`
}

/** What is wrong with the head of a request; undefined when nothing is. */
export function headFault({ raw, originalUrl }: FastifyRequest): Violation | undefined {
  const { httpVersion, rawHeaders } = raw
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return broken('', 'http.version')
  const values = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    const shown = single.get(name)
    if (shown === undefined) continue
    if (values.has(name)) return broken(shown, 'header.repeated')
    values.set(name, rawHeaders[at + 1] ?? '')
  }
  return (
    hostFault(values.get('host'), httpVersion) ??
    targetFault(originalUrl, values.get('host')) ??
    codingFault(values.get('transfer-encoding'), httpVersion)
  )
}

function hostFault(host: string | undefined, httpVersion: string): Violation | undefined {
  if (host === undefined) return httpVersion === '1.1' ? broken('Host', 'member.required') : undefined
  return readHost(host) ? undefined : broken('Host', 'value.format')
}

/** A target that names its host counts as the Host header would; where they differ, a proxy may have gone by the other one. */
function targetFault(target: string, header: string | undefined): Violation | undefined {
  const [, scheme, authority] = target.startsWith('/') ? [] : (absolute.exec(target) ?? [])
  if (scheme === undefined || authority === undefined) return undefined
  const named = readHost(authority)
  const host = readHost(header ?? '')
  if (!named || named.name === '') return broken('', 'value.format')
  const usual = scheme.toLowerCase() === 'https' ? 443 : 80
  const isSame = host?.name === named.name && (host.port ?? usual) === (named.port ?? usual)
  return isSame ? undefined : broken('Host', 'host.mismatch')
}

/** Chunks are the one coding that is undone here; HTTP/1.0 has none. */
function codingFault(coding: string | undefined, httpVersion: string): Violation | undefined {
  if (coding === undefined || (httpVersion === '1.1' && coding.trim().toLowerCase() === 'chunked')) return undefined
  return broken('Transfer-Encoding', 'value.one_of', { values: ['chunked'] })
}

const broken = (parameter: string, code: string, params: Record<string, unknown> = {}): Violation => ({
  parameter,
  code,
  params,
})
