/** Where files are kept, and which. Spec: items 4; docs/decisions/0235. */
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { type ClamdAddress, readClamdAddress } from '../egress/clamd.ts'
import type { S3Address } from '../egress/s3.ts'
import { ConfigurationError } from '../values/configuration-error.ts'
import { readable, secret, wholeNumber } from './variable-kinds.ts'

/** A bucket, and the start of every key in it: empty, or with a slash at its end. */
export type MediaBucket = S3Address & { readonly prefix: string }

export interface MediaSettings {
  /** Of the local store; with a bucket, what an earlier local store has left. */
  readonly dir: string
  /** Undefined: files are in the folder. */
  readonly bucket: MediaBucket | undefined
  readonly maxBytes: number
  /** Media types that are refused, by what the bytes are. */
  readonly refusedTypes: readonly string[]
  /** How long the bytes of a deleted file stay, for recoveries. */
  readonly keepDays: number
  /** How long a file stays that nothing carries. */
  readonly looseHours: number
  /** Life of a link to a file. */
  readonly linkSeconds: number
  /** Who checks files for malicious content; undefined: nobody. */
  readonly clamd: ClamdAddress | undefined
}

/** Programs of Windows, Linux and macOS. */
const executables =
  'application/x-elf,application/x-msdownload,application/vnd.microsoft.portable-executable,application/x-mach-binary'

/** The part of the environment that is about files (config.ts). */
export const mediaVariables = {
  SVC_MEDIA_STORE: z
    .enum(['local', 's3'])
    .default('local')
    .describe('Where the files are that people upload: in SVC_MEDIA_DIR, or in a bucket (docs/runbooks/media.md)'),
  SVC_MEDIA_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder for the files that people upload. Absent: media in SVC_DATA_DIR. All daemons of an installation need the same folder, on a shared disk if they run on several hosts',
    ),
  SVC_MEDIA_S3_ENDPOINT: z
    .string()
    .regex(/^https?:\/\/[^/?#\s@]+\/?$/, 'must be http(s)://host[:port]')
    .optional()
    .describe('The S3 service of the bucket. An address that is not public must be in SVC_EGRESS_ALLOW'),
  SVC_MEDIA_S3_REGION: z.string().min(1).default('us-east-1').describe('The region of the bucket'),
  SVC_MEDIA_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
    .optional()
    .describe('The bucket, which is there already'),
  SVC_MEDIA_S3_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/, 'must be names, separated by slashes')
    .optional()
    .describe('What every key in the bucket begins with. Absent: keys begin with tenants/'),
  SVC_MEDIA_S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('The access key of the bucket'),
  SVC_MEDIA_S3_SECRET_ACCESS_KEY: secret(z.string().min(1).optional()).describe('Its secret'),
  SVC_MEDIA_MAX_BYTES: wholeNumber(1, 1_099_511_627_776)
    .default(268_435_456)
    .describe('Maximum size of a file, in bytes'),
  SVC_MEDIA_REFUSED_TYPES: z
    .string()
    .regex(/^[a-z0-9.+/, -]*$/, 'must be media types in lower case, separated by commas')
    .default(executables)
    .describe(
      'Media types of files that are refused, separated by commas. What a file is, its bytes say, whatever its name is',
    ),
  SVC_CLAMD_ADDRESS: readable(readClamdAddress)
    .optional()
    .describe(
      'clamd, which checks every file that is uploaded: HOST:PORT, or the path of its socket. A file in which it finds something is refused; while it cannot be asked, files stay SCANNING. Absent: no file is checked (docs/runbooks/media.md)',
    ),
  SVC_MEDIA_KEEP_DAYS: wholeNumber(0, 3650)
    .default(7)
    .describe(
      'Time for which the bytes of a deleted file stay, in days, so that a recovery to an earlier moment finds them. The purge of a workspace does not wait for it',
    ),
  SVC_MEDIA_LOOSE_HOURS: wholeNumber(1, 8760)
    .default(24)
    .describe(
      'Time after which a file is removed whose upload was begun and not ended, or which nothing carries, in hours',
    ),
  SVC_MEDIA_LINK_SECONDS: wholeNumber(10, 86_400)
    .default(300)
    .describe('Life of a link to a file, which needs no token, in seconds; at most that of the token it was made with'),
}

type Values = z.output<z.ZodObject<typeof mediaVariables>>

export const mediaSettingsOf = (values: Values, dataDir: string): MediaSettings => ({
  dir: values.SVC_MEDIA_DIR === undefined ? join(dataDir, 'media') : resolve(values.SVC_MEDIA_DIR),
  bucket: values.SVC_MEDIA_STORE === 's3' ? bucketOf(values) : undefined,
  maxBytes: values.SVC_MEDIA_MAX_BYTES,
  refusedTypes: values.SVC_MEDIA_REFUSED_TYPES.split(',')
    .map((type) => type.trim())
    .filter((type) => type !== ''),
  keepDays: values.SVC_MEDIA_KEEP_DAYS,
  looseHours: values.SVC_MEDIA_LOOSE_HOURS,
  linkSeconds: values.SVC_MEDIA_LINK_SECONDS,
  clamd: values.SVC_CLAMD_ADDRESS === undefined ? undefined : clamdOf(values.SVC_CLAMD_ADDRESS),
})

/** A text that the schema has read already. */
function clamdOf(text: string): ClamdAddress {
  const read = readClamdAddress(text)
  if ('fault' in read) throw new ConfigurationError(`SVC_CLAMD_ADDRESS ${read.fault}.`)
  return read
}

/** An object has 10,000 parts of 8 MiB at most. */
const mostBytesOfObject = 10_000 * 8_388_608

/** Throws ConfigurationError. */
function bucketOf(values: Values): MediaBucket {
  const {
    SVC_MEDIA_S3_ENDPOINT: endpoint,
    SVC_MEDIA_S3_BUCKET: bucket,
    SVC_MEDIA_S3_ACCESS_KEY_ID: accessKeyId,
    SVC_MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey,
    SVC_MEDIA_S3_PREFIX: prefix,
  } = values
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey)
    throw new ConfigurationError(
      'SVC_MEDIA_STORE is s3, which needs SVC_MEDIA_S3_ENDPOINT, SVC_MEDIA_S3_BUCKET, SVC_MEDIA_S3_ACCESS_KEY_ID and SVC_MEDIA_S3_SECRET_ACCESS_KEY.',
    )
  if (values.SVC_MEDIA_MAX_BYTES > mostBytesOfObject)
    throw new ConfigurationError(`With SVC_MEDIA_STORE s3, SVC_MEDIA_MAX_BYTES is ${mostBytesOfObject} at most.`)
  const keys = { accessKeyId, secretAccessKey, prefix: prefix === undefined ? '' : `${prefix}/` }
  return { endpoint, region: values.SVC_MEDIA_S3_REGION, bucket, ...keys }
}

/** The folder, below the store's, that holds the files of one workspace. */
export const mediaFolderOf = ({ dir }: Pick<MediaSettings, 'dir'>, tenantId: string) => join(dir, 'tenants', tenantId)
