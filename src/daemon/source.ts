/**
 * Where a call comes from: the one address by which strangers are told apart.
 *
 *    socket ─ no proxy of ours ─▶ its address
 *       └─ a proxy ─▶ X-Forwarded-For, read from its right end ─▶ the first address that is no proxy of ours
 *
 * Each proxy appends whom it heard from, so that what stands to the left of a stranger is
 * whatever the stranger wrote. Nobody is a proxy unless SVC_TRUSTED_PROXIES says so. An
 * IPv6 address counts as its /64, which is what one subscriber is given at the least; an
 * IPv4 address in IPv6 counts as itself.
 *
 * `Forwarded` (RFC 7239) is not read: of the two headers a proxy fills in one, and lets a
 * stranger fill in the other.
 */
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { type Block, isWithin } from '../core/kernel/egress/addresses.ts'

/** What of a call is looked at before its body is. */
export type Heard = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Whether a proxy speaks that nobody named: its callers all count as one. */
export const isUnknownProxy = ({ headers, socket }: Heard, proxies: readonly Block[]): boolean =>
  headers['x-forwarded-for'] !== undefined && !isWithin(addressIn(socket.remoteAddress) ?? '', proxies)

/** Answers the source of a call; the empty text where the connection is gone. */
export function sourceOf({ headers, socket }: Heard, proxies: readonly Block[]): string {
  let source = addressIn(socket.remoteAddress)
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  while (source !== undefined && isWithin(source, proxies)) {
    const before = addressIn(forwarded.pop())
    // The proxy itself speaks, or wrote what is no address: then it answers for the call.
    if (before === undefined) break
    source = before
  }
  return source === undefined ? '' : subscriberOf(source)
}

/** The source of a connection, whoever speaks through it: what bounds sockets counts by it. The empty text where it is gone. */
export function sourceOfConnection(remoteAddress: string | undefined): string {
  const address = addressIn(remoteAddress)
  return address === undefined ? '' : subscriberOf(address)
}

/** An address without the port, the brackets and the zone that some proxies add. */
function addressIn(text: string | undefined): string | undefined {
  const written = (text ?? '').trim().replace(/^"|"$/g, '')
  const bare = /^\[([^\]]+)\](?::[0-9]+)?$/.exec(written)?.[1] ?? written.replace(/^([0-9.]+):[0-9]+$/, '$1')
  const plain = bare.replace(/%.*$/, '')
  return ipaddr.isValid(plain) ? ipaddr.process(plain).toString() : undefined
}

function subscriberOf(address: string): string {
  const read = ipaddr.parse(address)
  if (read.kind() === 'ipv4') return address
  const [a, b, c, d] = (read as ipaddr.IPv6).parts
  return `${new ipaddr.IPv6([a ?? 0, b ?? 0, c ?? 0, d ?? 0, 0, 0, 0, 0])}/64`
}

/** The network that a source is of, the largest that one subscriber is given: the /48 of an IPv6 source, and any other as it is. */
export function networkOf(source: string): string {
  if (!source.endsWith('/64')) return source
  const [a, b, c] = ipaddr.IPv6.parse(source.slice(0, -'/64'.length)).parts
  return `${new ipaddr.IPv6([a ?? 0, b ?? 0, c ?? 0, 0, 0, 0, 0, 0])}/48`
}
