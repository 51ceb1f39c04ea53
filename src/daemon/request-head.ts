/**
 * Checks the head of a request before routing.
 *
 * Node's parser accepts requests that this daemon and a proxy in front of it could read in
 * different ways: two values of a single-valued header, a target with another host than the
 * Host header, a body in an unsupported coding. Each is refused, and the connection is closed.
 *
 * Spec: decisions 1, Problems; RFC 9110, 5.3; RFC 9112, 3.2 and 6.1.
 */
import type { IncomingMessage } from 'node:http'
import type { Violation } from '../core/contract/problem.ts'
import { readHost } from './host.ts'

/** Single-valued headers. Node silently drops the second value of most of them. */
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

/** The target as a path. Every server must also accept the form `http://host/path`, which clients send to proxies. */
export function pathOfTarget(target = ''): string {
  if (target.startsWith('/')) return target
  const [, , , path] = absolute.exec(target) ?? []
  if (path === undefined) return target
  return path.startsWith('/') ? path : `/${path}`
}

/** The fault of the head of a request, if any. `target`: as it was sent. */
export function headFault(
  { httpVersion, rawHeaders }: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>,
  target: string,
): Violation | undefined {
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
    targetFault(target, values.get('host')) ??
    codingFault(values.get('transfer-encoding'), httpVersion)
  )
}

function hostFault(host: string | undefined, httpVersion: string): Violation | undefined {
  if (host === undefined) return httpVersion === '1.1' ? broken('Host', 'member.required') : undefined
  return readHost(host) ? undefined : broken('Host', 'value.format')
}

/** A target with a host must have the same host as the Host header, because a proxy may have used either. */
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

/** Only the chunked coding is supported here; HTTP/1.0 has no codings. */
function codingFault(coding: string | undefined, httpVersion: string): Violation | undefined {
  if (coding === undefined || (httpVersion === '1.1' && coding.trim().toLowerCase() === 'chunked')) return undefined
  return broken('Transfer-Encoding', 'value.one_of', { values: ['chunked'] })
}

const broken = (parameter: string, code: string, params: Record<string, unknown> = {}): Violation => ({
  parameter,
  code,
  params,
})
