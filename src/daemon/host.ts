/**
 * The addressed workspace: the Host header, read by one strict parser.
 *
 *    acme.example.org:8080     the workspace `acme`, if the base domain is `example.org`
 *    ACME.example.org.         the same: case and one final dot change nothing
 *    acme.example.org..        not a host: 400
 *
 * If another parser read a spelling as the subdomain and this one did not, a workspace's
 * subdomain would serve tokens of another workspace. So every invalid host is refused.
 *
 * Spec: decisions 2, Workspaces and hosts; RFC 9112, 3.2.
 */
import { isIPv6 } from 'node:net'
import { refuse } from '../core/contract/problem.ts'
import type { Config } from '../core/kernel/config/config.ts'

export interface Host {
  /** In lower case, without the final dot; empty if the header is empty. */
  readonly name: string
  readonly port: number | undefined
}

const nameAndPort = /^([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)\.?(?::([0-9]{0,5}))?$/i
const literalAndPort = /^(\[[0-9a-f:.]{2,45}\])(?::([0-9]{0,5}))?$/i

/** The host of a header or a target; undefined for an invalid one. */
export function readHost(text: string): Host | undefined {
  if (text === '') return { name: '', port: undefined }
  const [, name, digits] = nameAndPort.exec(text) ?? literalAndPort.exec(text) ?? []
  if (name === undefined || name.length > 253) return undefined
  if (name.startsWith('[') && !isIPv6(name.slice(1, -1))) return undefined
  const port = digits ? Number(digits) : undefined
  return port !== undefined && port > 65_535 ? undefined : { name: name.toLowerCase(), port }
}

/** The slug in a host; undefined if the host is not that of a workspace. Refuses request.malformed for an invalid host. */
export function workspaceOfHost({ baseDomain }: Config, header: string | undefined): string | undefined {
  if (baseDomain === undefined || header === undefined) return undefined
  const host = readHost(header)
  if (!host)
    refuse('request.malformed', undefined, { errors: [{ parameter: 'Host', code: 'value.format', params: {} }] })
  return host.name.endsWith(`.${baseDomain}`) ? host.name.slice(0, -baseDomain.length - 1) : undefined
}
