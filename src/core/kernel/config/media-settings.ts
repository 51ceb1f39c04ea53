/** Where files are kept, and which. Spec: items 4; docs/decisions/0235. */
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { wholeNumber } from './variable-kinds.ts'

export interface MediaSettings {
  readonly dir: string
  readonly maxBytes: number
  /** Media types that are refused, by what the bytes are. */
  readonly refusedTypes: readonly string[]
  /** How long the bytes of a deleted file stay, for recoveries. */
  readonly keepDays: number
  /** How long a file stays that nothing carries. */
  readonly looseHours: number
}

/** Programs of Windows, Linux and macOS. */
const executables =
  'application/x-elf,application/x-msdownload,application/vnd.microsoft.portable-executable,application/x-mach-binary'

/** The part of the environment that is about files (config.ts). */
export const mediaVariables = {
  SVC_MEDIA_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder for the files that people upload. Absent: media in SVC_DATA_DIR. All daemons of an installation need the same folder, on a shared disk if they run on several hosts',
    ),
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
}

type Values = z.output<z.ZodObject<typeof mediaVariables>>

export const mediaSettingsOf = (values: Values, dataDir: string): MediaSettings => ({
  dir: values.SVC_MEDIA_DIR === undefined ? join(dataDir, 'media') : resolve(values.SVC_MEDIA_DIR),
  maxBytes: values.SVC_MEDIA_MAX_BYTES,
  refusedTypes: values.SVC_MEDIA_REFUSED_TYPES.split(',')
    .map((type) => type.trim())
    .filter((type) => type !== ''),
  keepDays: values.SVC_MEDIA_KEEP_DAYS,
  looseHours: values.SVC_MEDIA_LOOSE_HOURS,
})

/** The folder, below the store's, that holds the files of one workspace. */
export const mediaFolderOf = ({ dir }: Pick<MediaSettings, 'dir'>, tenantId: string) => join(dir, 'tenants', tenantId)
