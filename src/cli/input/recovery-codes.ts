/** Prints recovery codes, or writes them to a file: they are shown only once. */
import { Flags } from '@oclif/core'
import { keepingToken } from './token-file.ts'

export const keepFlags = {
  'recovery-codes-file': Flags.string({
    summary: 'Write the recovery codes to this new file of mode 0600 instead of showing them.',
    helpValue: 'FILE',
  }),
}

interface MadeCodes {
  readonly recovery_codes: string[]
}

/** Makes the call. If a file is named, the codes go there and the answer holds null instead. */
export async function keepingCodes(
  file: string | undefined,
  call: () => Promise<MadeCodes>,
): Promise<{ readonly recovery_codes: string[] | null }> {
  const made = await keepingToken(file, ({ recovery_codes }) => recovery_codes.join('\n'), call)
  return file === undefined ? made : { recovery_codes: null }
}

export function drawnCodes(
  { recovery_codes: codes }: { readonly recovery_codes: string[] | null },
  file: string | undefined,
) {
  const listed = codes === null ? `  written to ${file}` : codes.map((code) => `  ${code}`).join('\n')
  return `Recovery codes. Each replaces a code of your app once:\n\n${listed}\n`
}

export const keepThem =
  'Keep them apart from your password. They are shown only this once. `svc mfa recovery-codes` makes new ones.'
