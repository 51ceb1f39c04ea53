/** The flags for the place of a backup target. Its secrets come from a prompt, a file or standard input. */
import { Flags } from '@oclif/core'
import type { NewTargetConfig, TargetKind } from '../../core/contract/backup/operations.ts'
import { Failure } from '../failure.ts'
import { readSecret, secretOrAsk } from './secret-input.ts'

const kinds = ['local', 's3', 'sftp'] as const

export const kindFlag = Flags.custom<(typeof kinds)[number]>({ summary: 'The kind of target.', options: [...kinds] })

export const storeFlags = {
  path: Flags.string({ summary: 'local: the folder, below SVC_BACKUP_DIR. sftp: the folder on the server.' }),
  endpoint: Flags.string({ summary: 's3: the endpoint, as https://host or https://host:port.', helpValue: 'URL' }),
  region: Flags.string({ summary: 's3: the region for request signatures.' }),
  bucket: Flags.string({ summary: 's3: the bucket; it must exist.' }),
  prefix: Flags.string({ summary: 's3: a prefix for every object key.' }),
  'access-key-id': Flags.string({ summary: 's3: the id of the access key.', helpValue: 'ID' }),
  host: Flags.string({ summary: 'sftp: the server.' }),
  port: Flags.integer({ summary: 'sftp: the port of the server; default: 22.', min: 1, max: 65_535 }),
  username: Flags.string({ summary: 'sftp: the user name.' }),
  'host-key': Flags.string({ summary: "sftp: the server's public key.", helpValue: 'KEY' }),
  'private-key-file': Flags.string({
    summary: 'sftp: the private key for signing in, a file of mode 0600.',
    helpValue: 'FILE',
  }),
  'secret-file': Flags.string({
    summary: 'Read the secret access key or the password from a file of mode 0600.',
    helpValue: 'FILE',
    exclusive: ['private-key-file'],
  }),
  'secret-stdin': Flags.boolean({
    summary: 'Read the secret access key or the password from standard input.',
    exclusive: ['secret-file', 'private-key-file'],
  }),
}

interface StoreFlags extends SecretFlags {
  readonly path?: string | undefined
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly bucket?: string | undefined
  readonly prefix?: string | undefined
  readonly 'access-key-id'?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly username?: string | undefined
  readonly 'host-key'?: string | undefined
}

/** The kind and the whole config from the flags. Fails (usage) if the secret is missing, or does not belong to the kind. */
export async function readStore(
  named: string,
  flags: StoreFlags,
): Promise<{ readonly kind: TargetKind; readonly config: NewTargetConfig }> {
  const plain = Object.entries({
    path: flags.path,
    endpoint: flags.endpoint,
    region: flags.region,
    bucket: flags.bucket,
    prefix: flags.prefix,
    access_key_id: flags['access-key-id'],
    host: flags.host,
    port: flags.port,
    username: flags.username,
    host_key: flags['host-key'],
  }).filter(([, value]) => value !== undefined)
  const kind = named.toUpperCase() as TargetKind
  return { kind, config: { ...Object.fromEntries(plain), ...(await secretOf(kind, flags)) } as NewTargetConfig }
}

interface SecretFlags {
  readonly 'private-key-file'?: string | undefined
  readonly 'secret-file'?: string | undefined
  readonly 'secret-stdin'?: boolean
}

async function secretOf(kind: TargetKind, flags: SecretFlags): Promise<Partial<NewTargetConfig>> {
  const source = { stdin: flags['secret-stdin'], file: flags['secret-file'] }
  if (kind === 'LOCAL') {
    if (source.stdin || source.file !== undefined) throw new Failure('usage', 'A local target takes no secret.')
    return {}
  }
  if (kind === 'S3') return { secret_access_key: await secretOrAsk(source, 'secret', 'Secret access key:') }
  const key = await readSecret({ file: flags['private-key-file'] }, 'private key')
  // OpenSSH key files end with a line feed, which readSecret has removed.
  if (key !== undefined) return { private_key: `${key}\n` }
  return { password: await secretOrAsk(source, 'secret', 'Password:') }
}
