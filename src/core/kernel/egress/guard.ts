/**
 * The guard decides which hosts the daemon may call, and at which addresses.
 *
 *    URL text ──form──▶ host ──name rules──▶ addresses, resolved once ──table──▶ vetted
 *                                                      └─ if one is refused, all are
 *
 * Workspaces configure webhook targets; operators configure issuers, models and backup
 * targets. The daemon is in the network of its operator's other machines, so each of these
 * could be used to reach them. Connections go to exactly the vetted addresses (client.ts),
 * so a name that later resolves to another address gains nothing.
 *
 * Every refusal is the same EgressRefused, so that nobody can map the network with it.
 *
 * Spec: decisions 5, Egress guard; T-14, T-15, T-16.
 */
import { lookup, Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { DatabaseAddress } from '../database/address.ts'
import { type Block, isAddress, isGlobal, isMetadataAddress, isReleased, readBlock } from './addresses.ts'

/** The guard allows no connection to the target. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
  readonly code = 'EGRESS_REFUSED'
  constructor() {
    super('the egress guard refused the target')
  }
}

/** What `SVC_EGRESS_ALLOW` releases. */
export interface Release {
  /** Names, in lower case: allowed at every address except those of metadata services. */
  readonly names: ReadonlySet<string>
  readonly blocks: readonly Block[]
  /** `host:port`, the only way to release an endpoint of this installation itself. */
  readonly endpoints: ReadonlySet<string>
}

/** Answers every address of a name; the system's resolver unless a test gives another. */
export type Resolve = (name: string) => Promise<readonly string[]>

export interface GuardOptions {
  readonly release: Release
  /** Endpoints that are this installation's own, such as its API and its database. */
  readonly own: readonly { readonly host: string; readonly port: number }[]
  readonly resolve?: Resolve
}

/** What the guard found out about a host, for the trace; `addresses` is empty where the rule is `refused`. */
export interface Inspection {
  /** All addresses that the name resolved to, or the address itself. */
  readonly answers: readonly string[]
  /** The addresses that may be connected to. */
  readonly addresses: readonly string[]
  /** `global`: every address is public. `released`: allowed by the operator. `refused`: otherwise. */
  readonly rule: 'global' | 'released' | 'refused'
}

export interface Guard {
  /** Reads a URL's form: scheme, credentials, port, host. Throws EgressRefused. Resolves nothing. */
  readUrl(text: string): URL
  /** The decision on a host and its reasons; the name is resolved now. Throws what the resolver throws. */
  inspect(host: string, port: number): Promise<Inspection>
  /** The addresses of a host that may be connected to, resolved now. Throws EgressRefused, or what the resolver throws. */
  vet(host: string, port: number): Promise<readonly string[]>
}

const resolveBySystem: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address)

/**
 * Asks the name servers directly, for at most 3 s. The system's resolver uses the four threads of the whole process: a
 * few names whose servers never answer would delay every other name, and every password hash.
 */
const resolveOutside: Resolve = async (name) => {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 })
  const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const answers = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
  // A partial answer is not used, because the guard must see all addresses.
  const failed = families.find((family) => family.status === 'rejected' && !isEmpty(family.reason))
  if (failed?.status === 'rejected') throw failed.reason
  if (answers.length === 0)
    throw families.find((family) => family.status === 'rejected')?.reason ?? new Error('ENODATA')
  return answers
}

/** The name exists without an address of that family, or does not exist. */
const isEmpty = (error: unknown) => ['ENODATA', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Names that are resolved inside a network only, or mean this machine. */
const innerName =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid|onion|arpa)$/

/**
 * Reads `SVC_EGRESS_ALLOW`: names, `host:port`, addresses and blocks, separated by commas. Answers the first invalid
 * part.
 */
export function readRelease(text: string): Release | { readonly fault: string } {
  const names = new Set<string>()
  const released: Block[] = []
  const endpoints = new Set<string>()
  for (const part of text.split(',').map((one) => one.trim().toLowerCase())) {
    if (part === '') continue
    const block = readBlock(part)
    if (block) released.push(block)
    else if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(part)) names.add(part)
    else if (/^(\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9.-]{0,252}):[0-9]{1,5}$/.test(part)) endpoints.add(part)
    else return { fault: part }
  }
  return { names, blocks: released, endpoints }
}

export const nothingReleased: Release = { names: new Set(), blocks: [], endpoints: new Set() }

/** The endpoints that an installation must never call: its own API and its own database. */
export const ownEndpoints = (api: { host: string; port: number }, ...databases: (DatabaseAddress | undefined)[]) => [
  { host: api.host, port: api.port },
  ...databases
    .filter((database) => database !== undefined)
    .map(({ host, port }) => ({ host: host.startsWith('/') ? 'localhost' : host, port })),
]

export function openGuard({ release, own, resolve: given }: GuardOptions): Guard {
  const resolve = given ?? resolveOutside
  // A host that the operator has allowed may be only in the hosts file of this machine.
  const resolveReleased = given ?? resolveBySystem
  const isNamed = (host: string, port: number) => release.endpoints.has(`${hostInUrl(host)}:${port}`)
  const isByName = (host: string, port: number) => release.names.has(host) || isNamed(host, port)

  /** An address may be connected to for a host. */
  const isAllowed = (address: string, host: string, port: number) => {
    if (isMetadataAddress(address)) return false
    return isByName(host, port) || isReleased(address, release.blocks) || isGlobal(address)
  }

  const refused = (answers: readonly string[] = []): Inspection => ({ answers, addresses: [], rule: 'refused' })

  const inspect = async (written: string, port: number): Promise<Inspection> => {
    const host = meantHost(written)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return refused()
    if (!isAddress(host) && !isByName(host, port) && isInner(host)) return refused()
    const answers = isAddress(host) ? [host] : await (isByName(host, port) ? resolveReleased : resolve)(host)
    if (answers.length === 0 || !answers.every((address) => isAllowed(address, host, port))) return refused(answers)
    if (!isNamed(host, port) && (await isOwn(own, answers, port, resolveReleased))) return refused(answers)
    return { answers, addresses: answers, rule: answers.every(isGlobal) ? 'global' : 'released' }
  }

  return {
    inspect,

    readUrl(text) {
      const url = parsed(text)
      const host = hostOf(url)
      const port = portOf(url)
      if (port === 0) throw new EgressRefused()
      if (url.protocol === 'http:' && !mayBePlain(release, host, port)) throw new EgressRefused()
      if (isAddress(host) ? !isAllowed(host, host, port) : !isByName(host, port) && isInner(host))
        throw new EgressRefused()
      return url
    },

    async vet(host, port) {
      const { addresses, rule } = await inspect(host, port)
      if (rule === 'refused') throw new EgressRefused()
      return addresses
    },
  }
}

/**
 * Parses by the same rules as the client. Anything that these rules repair silently (a
 * backslash, a line break, a missing slash) is refused, and so are credentials.
 */
function parsed(text: string): URL {
  const isPlain = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && !/[\u0000-\u0020\u007f\\]/.test(text)
  if (!isPlain) throw new EgressRefused()
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') throw new EgressRefused()
  return url
}

/** Lower case, without brackets and the final dot. */
const plainHost = (host: string) =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
/**
 * A host outside a URL may be an address in another notation: operating systems read `127.1`, `0x7f.1` and `2130706433`
 * as addresses.
 */
function meantHost(written: string): string {
  const host = plainHost(written)
  const address = URL.canParse(`http://${hostInUrl(host)}/`) ? hostOf(new URL(`http://${hostInUrl(host)}/`)) : host
  return isAddress(address) ? address : host
}
const hostInUrl = (host: string) => (host.includes(':') ? `[${host}]` : host)
const hostOf = ({ hostname }: URL) => plainHost(hostname)

/** The port of a URL; the default of its scheme if it names none. */
export const portOf = ({ port, protocol }: URL) => (port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port))

/** One label, a name of inner networks, or not a name at all. */
const isInner = (host: string) =>
  innerName.test(host) || !/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+$/.test(host)

/** Plain http is allowed only to hosts that the operator has named. */
const mayBePlain = ({ names, blocks, endpoints }: Release, host: string, port: number) =>
  names.has(host) || endpoints.has(`${hostInUrl(host)}:${port}`) || (isAddress(host) && isReleased(host, blocks))

/** Whether an address and port belong to this installation, under any name. */
async function isOwn(
  own: GuardOptions['own'],
  addresses: readonly string[],
  port: number,
  resolve: Resolve,
): Promise<boolean> {
  const atPort = own.filter((endpoint) => endpoint.port === port)
  if (atPort.length === 0) return false
  const mine = new Set(atPort.map(({ host }) => host))
  for (const { host } of atPort) {
    if (isAddress(host)) continue
    for (const address of await resolve(host).catch(() => [])) mine.add(address)
  }
  const isHere = atPort.some(({ host }) => isThisMachine(host)) || [...mine].some(isThisMachine)
  return addresses.some((address) => mine.has(address) || (isHere && isThisMachine(address)))
}

function isThisMachine(host: string): boolean {
  if (host === 'localhost' || host === '0.0.0.0' || host === '::' || host === '::1' || host.startsWith('127.'))
    return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return interfaces.some(({ address }) => address === host)
}
