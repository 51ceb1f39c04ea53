/**
 * Codes of a second factor: asked for on a terminal, or read from a file, never an argument.
 *
 * The server decides whether a code is needed: a call is made without one, and again with a
 * code if it was refused. Each code works once, so a file holds one code on each line, for
 * commands that need several (signing in, then a step-up).
 */
import { Flags } from '@oclif/core'
import { Problem } from '../../core/contract/problem.ts'
import { Failure } from '../failure.ts'
import { askPassword, isInteractive } from './prompts.ts'
import { passwordFlags, readSecret, secretOrAsk } from './secret-input.ts'

const codeFlags = {
  'code-file': Flags.string({
    summary:
      'Read codes of your second factor, or recovery codes, from a file of mode 0600, one on each line, in order.',
    helpValue: 'FILE',
  }),
}

/** The flags of a command that may need a step-up. */
export const proofFlags = { ...passwordFlags, ...codeFlags }

export interface ProofFlags {
  readonly 'password-stdin'?: boolean
  readonly 'password-file'?: string | undefined
  readonly 'code-file'?: string | undefined
}

/** The caller's password, for a step-up. Fails (notAllowed) where it is not given and there is no terminal. */
export const passwordOnceMore = (source: ProofFlags): Promise<string> =>
  secretOrAsk(
    { stdin: source['password-stdin'], file: source['password-file'] },
    'password',
    'Your password again, to confirm this:',
    'notAllowed',
  )

/** A second factor as a body takes it. */
export type Shown =
  | { readonly totp: string }
  | { readonly recovery_code: string }
  | { readonly totp?: undefined; readonly recovery_code?: undefined }

export interface Codes {
  /** The next code, from the file or from a prompt. */
  next(question: string): Promise<string>
  /** Whether the user can be asked again after a mistake. */
  readonly isAsked: boolean
}

export function codesFrom(file: string | undefined): Codes {
  let lines: string[] | undefined
  return {
    isAsked: file === undefined && isInteractive(),
    async next(question) {
      if (file === undefined) {
        if (!isInteractive())
          throw new Failure(
            'notAllowed',
            'A code of your second factor is needed, and there is no terminal to ask for it.',
            'Give it with --code-file FILE.',
          )
        return askPassword(question)
      }
      lines ??= ((await readSecret({ file }, 'code')) ?? '').split(/\r?\n/).filter((line) => line.trim() !== '')
      const code = lines.shift()
      if (code === undefined)
        throw new Failure(
          'notAllowed',
          `${file} has too few codes.`,
          'Each code works once; add another one on a new line.',
        )
      return code.trim()
    },
  }
}

/** Six digits are a code of the app; anything else can only be a recovery code. */
const shownBy = (code: string): Shown =>
  /^[0-9]{6}$/.test(code.replaceAll(' ', '')) ? { totp: code.replaceAll(' ', '') } : { recovery_code: code }

const attempts = 3

/** Makes the call, and repeats it with a code if the server needs one. After a wrong code it asks again. */
export async function withSecondFactor<T>(codes: Codes, call: (shown: Shown) => Promise<T>): Promise<T> {
  try {
    return await call({})
  } catch (error) {
    if (!isRefusal(error, 'auth.second_factor_required')) throw error
  }
  for (let attempt = 1; ; attempt += 1) {
    const question =
      attempt === 1 ? 'Code of your authenticator app, or a recovery code:' : 'That code was wrong. The next code:'
    try {
      return await call(shownBy(await codes.next(question)))
    } catch (error) {
      if (!codes.isAsked || attempt >= attempts || !isRefusal(error, 'auth.second_factor_failed')) throw error
    }
  }
}

const isRefusal = (error: unknown, code: Problem['code']) => error instanceof Problem && error.code === code
