/**
 * The addresses that the daemon may call: only those that are routed on the internet. Every
 * other address is refused.
 *
 * Of IPv6 only 2000::/3 is allowed, without the blocks for other purposes. IPv4 inside IPv6
 * (mapped, compatible, NAT64) is therefore outside. It is parsed nevertheless, so that
 * allowing such a block never allows a metadata service in it.
 *
 * Sources: the IANA special-purpose address registries; RFC 6890. Spec: decisions 5, Egress guard.
 */
import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.parse>

/** An address block, e.g. of `10.0.0.0/8`. */
export type Block = readonly [Address, number]

const blocks = (...texts: readonly string[]): readonly Block[] => texts.map((text) => ipaddr.parseCIDR(text))

const ipv4Reserved = blocks(
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // shared by carriers
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
)

const ipv6Global = blocks('2000::/3')
const ipv6Reserved = blocks(
  '2001::/23', // Teredo, ORCHID and other protocol assignments
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: any IPv4 inside
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
)

/** Services that give cloud machines their own credentials. No setting allows them. */
const metadata = blocks(
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32', // Amazon, over IPv6
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure; routed like any other address, but only the host answers
  '192.0.0.192/32', // Oracle
)

/** Blocks that hold an IPv4 address, and the byte at which it starts. */
const carriers: readonly (readonly [Block, number])[] = [
  [ipaddr.parseCIDR('::ffff:0:0/96'), 12],
  [ipaddr.parseCIDR('::/96'), 12],
  [ipaddr.parseCIDR('64:ff9b::/96'), 12],
  [ipaddr.parseCIDR('64:ff9b:1::/48'), 12],
  [ipaddr.parseCIDR('2002::/16'), 2],
]

const isIn = (address: Address, list: readonly Block[]) =>
  list.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))

/** Whether an address, as the resolver or a URL names it, is routed on the internet. Anything unreadable is not. */
export function isGlobal(text: string): boolean {
  const address = readAddress(text)
  if (!address) return false
  if (isMetadata(address)) return false
  return address.kind() === 'ipv4'
    ? !isIn(address, ipv4Reserved)
    : isIn(address, ipv6Global) && !isIn(address, ipv6Reserved)
}

/** Whether one of the blocks holds the address. */
export function isWithin(text: string, list: readonly Block[]): boolean {
  const address = readAddress(text)
  return address !== undefined && isIn(address, list)
}

/** Whether one of the blocks holds the address; a block never releases a metadata service. */
export function isReleased(text: string, released: readonly Block[]): boolean {
  const address = readAddress(text)
  return address !== undefined && !isMetadata(address) && isIn(address, released)
}

/** Whether an address is that of a metadata service, in any notation. An unreadable address counts as one. */
export function isMetadataAddress(text: string): boolean {
  const address = readAddress(text)
  return address === undefined || isMetadata(address)
}

function isMetadata(address: Address): boolean {
  if (isIn(address, metadata)) return true
  if (address.kind() === 'ipv4') return false
  const bytes = address.toByteArray()
  return carriers.some(
    ([block, at]) => isIn(address, [block]) && isIn(ipaddr.fromByteArray(bytes.slice(at, at + 4)), metadata),
  )
}

/** Reads only the canonical forms: `new URL()` and the resolver write no others, and shorthand has several readings. */
function readAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (bare.includes('%')) return undefined // a zone: link-local
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare)
  return bare.includes(':') && ipaddr.IPv6.isValid(bare) ? ipaddr.IPv6.parse(bare) : undefined
}

/** Whether a URL's or a configuration's host is an address, and so needs no resolver. */
export const isAddress = (host: string) => readAddress(host) !== undefined

/** The block that a text names; a single address is a block of one. Undefined when it is neither. */
export function readBlock(text: string): Block | undefined {
  const bare = text.replace(/^\[|\]/g, '')
  const [address, bits] = bare.split('/')
  const read = readAddress(address ?? '')
  if (!read) return undefined
  if (bits === undefined) return [read, read.kind() === 'ipv4' ? 32 : 128]
  if (!/^[0-9]{1,3}$/.test(bits) || Number(bits) > (read.kind() === 'ipv4' ? 32 : 128)) return undefined
  return [read, Number(bits)]
}
