/**
 * Whom a request is meant for: its Host header, read by one strict reader.
 *
 *    acme.example.org:8080     the workspace `acme`, where the base domain is `example.org`
 *    ACME.example.org.         the same: capitals and one final dot change nothing
 *    acme.example.org..        no host: 400
 *
 * A spelling that another reader would take for the subdomain, and this one for some other
 * host, would serve a workspace's subdomain to the tokens of another; so what is no host by
 * the letter is refused, not passed over.
 *
 * Spec: decisions 2, Workspaces and hosts; RFC 9112, 3.2.
 */
import { isIPv6 } from 'node:net'
import { refuse } from '../core/contract/problem.ts'
import type { Config } from '../core/kernel/config/config.ts'

export interface Host {
  /** In lower case, without the final dot; empty where the header is. */
  readonly name: string
  readonly port: number | undefined
}

const nameAndPort = /^([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)\.?(?::([0-9]{0,5}))?$/i
const literalAndPort = /^(\[[0-9a-f:.]{2,45}\])(?::([0-9]{0,5}))?$/i

/** A host as a header or a target names it; undefined for what is none. */
export function readHost(text: string): Host | undefined {
  if (text === '') return { name: '', port: undefined }
  const [, name, digits] = nameAndPort.exec(text) ?? literalAndPort.exec(text) ?? []
  if (name === undefined || name.length > 253) return undefined
  if (name.startsWith('[') && !isIPv6(name.slice(1, -1))) return undefined
  const port = digits ? Number(digits) : undefined
  return port !== undefined && port > 65_535 ? undefined : { name: name.toLowerCase(), port }
}

/** The slug that a host names; undefined where it names no workspace. Refuses request.malformed for what is no host. */
export function workspaceOfHost({ baseDomain }: Config, header: string | undefined): string | undefined {
  if (baseDomain === undefined || header === undefined) return undefined
  const host = readHost(header)
  if (!host)
    refuse('request.malformed', undefined, { errors: [{ parameter: 'Host', code: 'value.format', params: {} }] })
  return host.name.endsWith(`.${baseDomain}`) ? host.name.slice(0, -baseDomain.length - 1) : undefined
}
