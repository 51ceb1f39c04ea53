/**
 * The source of a call: the address that distinguishes anonymous callers.
 *
 *    socket ─ not a trusted proxy ─▶ its address
 *       └─ a trusted proxy ─▶ X-Forwarded-For, read from the right ─▶ the first address that is not a trusted proxy
 *
 * Each proxy appends the address of its own caller. So everything to the left of an unknown
 * address may be false. Only the addresses in SVC_TRUSTED_PROXIES are trusted proxies. An
 * IPv6 address counts as its /64, the smallest network that a subscriber gets; an IPv4
 * address in IPv6 counts as itself.
 *
 * `Forwarded` (RFC 7239) is not read: a proxy sets one of the two headers, and passes on
 * whatever a caller wrote into the other.
 */
import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Block, isWithin } from '../core/kernel/egress/addresses.ts'

/** The parts of a call that are used before its body. */
export type Heard = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Whether an unknown proxy forwards the call; all its callers count as one. */
export const isUnknownProxy = ({ headers, socket }: Heard, proxies: readonly Block[]): boolean =>
  headers['x-forwarded-for'] !== undefined && !isWithin(addressIn(socket.remoteAddress) ?? '', proxies)

/** The source of a call; empty if the connection has ended. */
export function sourceOf({ headers, socket }: Heard, proxies: readonly Block[]): string {
  let source = addressIn(socket.remoteAddress)
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  while (source !== undefined && isWithin(source, proxies)) {
    const before = addressIn(forwarded.pop())
    // The proxy calls for itself, or wrote an invalid address: then it counts as the source.
    if (before === undefined) break
    source = before
  }
  return source === undefined ? '' : subscriberOf(source)
}

/** The source of a connection, without regard to proxies; limits on sockets use it. Empty if the connection has ended. */
export function sourceOfConnection(remoteAddress: string | undefined): string {
  const address = addressIn(remoteAddress)
  return address === undefined ? '' : subscriberOf(address)
}

/** The address without the port, brackets and zone that some proxies add. */
function addressIn(text: string | undefined): string | undefined {
  // Asked for every connection and call; the package takes twenty times as long.
  if (text !== undefined && isIPv4(text)) return text
  const written = (text ?? '').trim().replace(/^"|"$/g, '')
  const bare = /^\[([^\]]+)\](?::[0-9]+)?$/.exec(written)?.[1] ?? written.replace(/^([0-9.]+):[0-9]+$/, '$1')
  const plain = bare.replace(/%.*$/, '')
  return ipaddr.isValid(plain) ? ipaddr.process(plain).toString() : undefined
}

function subscriberOf(address: string): string {
  if (isIPv4(address)) return address
  const [a, b, c, d] = (ipaddr.parse(address) as ipaddr.IPv6).parts
  return `${new ipaddr.IPv6([a ?? 0, b ?? 0, c ?? 0, d ?? 0, 0, 0, 0, 0])}/64`
}

/** The largest network that one subscriber gets: the /48 of an IPv6 source, and any other source unchanged. */
export function networkOf(source: string): string {
  if (!source.endsWith('/64')) return source
  const [a, b, c] = ipaddr.IPv6.parse(source.slice(0, -'/64'.length)).parts
  return `${new ipaddr.IPv6([a ?? 0, b ?? 0, c ?? 0, 0, 0, 0, 0, 0])}/48`
}
