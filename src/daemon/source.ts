/** Where a connection comes from: the party that one limit is for. */

const mappedAddress = /^::ffff:([0-9.]+)$/i

/** The IPv4 address, or the /64 of an IPv6 address: whoever has one address of a /64 has all of them. */
export function sourceOf(address: string | undefined): string {
  if (address === undefined) return ''
  const mapped = mappedAddress.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address
  const [front = '', back] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const [before, behind] = [groupsOf(front), groupsOf(back ?? '')]
  const groups = [...before, ...Array<string>(Math.max(0, 8 - before.length - behind.length)).fill('0'), ...behind]
  return `${groups.slice(0, 4).join(':')}::/64`
}

const groupsOf = (text: string) => (text === '' ? [] : text.split(':'))
