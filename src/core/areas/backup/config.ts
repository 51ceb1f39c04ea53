/**
 * The config of each kind of target: its required members, its optional members, and which of them
 * are secrets. A member that the kind does not know is refused, so that nobody believes that it has
 * an effect.
 *
 * Spec: decisions 4, A backup target; T-25 (paths that cannot leave their folder).
 */

import type { NewTargetConfig, TargetConfig, TargetKind } from '../../contract/backup/operations.ts'
import { refuseMember } from '../../contract/problem.ts'

type Member = keyof NewTargetConfig

interface Kind {
  readonly needs: readonly Member[]
  readonly takes: readonly Member[]
}

const kinds: Readonly<Record<TargetKind, Kind>> = {
  LOCAL: { needs: ['path'], takes: [] },
  S3: {
    needs: ['endpoint', 'region', 'bucket', 'access_key_id', 'secret_access_key'],
    takes: ['prefix'],
  },
  SFTP: { needs: ['host', 'username', 'host_key', 'path'], takes: ['port', 'password', 'private_key'] },
}

export interface SplitConfig {
  readonly plain: TargetConfig
  /** Sealed as one JSON text; undefined where the kind has none. */
  readonly secrets: Secrets | undefined
}

export type Secrets = Partial<Pick<NewTargetConfig, 'secret_access_key' | 'password' | 'private_key'>>

/** Checks a config against its kind and separates the secrets from the rest. Refuses request.invalid. */
export function splitConfig(kind: TargetKind, config: NewTargetConfig): SplitConfig {
  const { needs, takes } = kinds[kind]
  for (const name of Object.keys(config) as Member[])
    if (!needs.includes(name) && !takes.includes(name)) refuseMember(`/config/${name}`, 'member.unknown')
  for (const name of needs) if (config[name] === undefined) refuseMember(`/config/${name}`, 'member.required')
  checkValues(kind, config)

  const { secret_access_key, password, private_key, ...plain } = config
  const secrets = Object.fromEntries(
    Object.entries({ secret_access_key, password, private_key }).filter(([, value]) => value !== undefined),
  )
  return { plain, secrets: Object.keys(secrets).length > 0 ? secrets : undefined }
}

function checkValues(kind: TargetKind, config: NewTargetConfig): void {
  const demand = (name: Member, holds: boolean, code = 'value.format') => {
    if (!holds) refuseMember(`/config/${name}`, code)
  }
  switch (kind) {
    case 'LOCAL':
      demand('path', isRelativePath(config.path ?? ''))
      return
    case 'S3':
      demand('endpoint', /^https?:\/\/[^/?#@]+\/?$/.test(config.endpoint ?? ''))
      demand('region', /^[A-Za-z0-9-]+$/.test(config.region ?? ''))
      demand('bucket', /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(config.bucket ?? ''))
      demand('access_key_id', /^[!-~]+$/.test(config.access_key_id ?? ''))
      demand('secret_access_key', /^[!-~]+$/.test(config.secret_access_key ?? ''))
      demand('prefix', config.prefix === undefined || isRelativePath(config.prefix))
      return
    case 'SFTP':
      demand('host', /^[A-Za-z0-9.:[\]-]+$/.test(config.host ?? ''))
      demand('host_key', readHostKey(config.host_key ?? '') !== undefined)
      demand('path', isRelativePath((config.path ?? '').replace(/^\//, '')))
      demand('password', (config.password === undefined) !== (config.private_key === undefined), 'member.one_of')
  }
}

const segment = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/

/**
 * Whether a path stays below the folder that it is joined to: plain names between single slashes, at most 16 of them.
 */
export function isRelativePath(path: string): boolean {
  const parts = path.split('/')
  return parts.length <= 16 && parts.every((part) => segment.test(part))
}

/** The key of a `known_hosts` line, with or without its host names, as bytes. */
export function readHostKey(text: string): Buffer | undefined {
  const encoded = text
    .trim()
    .split(/\s+/)
    .find((word) => /^AAAA[A-Za-z0-9+/]+={0,2}$/.test(word))
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}
