/** Secrets come from a prompt, standard input or a file. They are never arguments, because every user of the machine can read those. */
import { readFileSync, statSync } from 'node:fs'
import { Flags } from '@oclif/core'
import { Failure } from '../failure.ts'
import { refuseReadableByOthers } from '../profile/profiles.ts'
import { askPassword, type Check, isInteractive } from './prompts.ts'
import { unreadable } from './unreadable.ts'

export const passwordFlags = {
  'password-stdin': Flags.boolean({ summary: 'Read the password from standard input.', exclusive: ['password-file'] }),
  'password-file': Flags.string({ summary: 'Read the password from a file of mode 0600.', helpValue: 'FILE' }),
}

export interface SecretSource {
  /** Absent if the command has no such flag. */
  readonly stdin?: boolean | undefined
  readonly file?: string | undefined
}

const maximumBytes = 65_536

/** The secret from stdin or the file, without the final newline; undefined if neither is named. Fails (usage) for a file that others can read. */
export async function readSecret({ stdin, file }: SecretSource, what: string): Promise<string | undefined> {
  if (!stdin && file === undefined) return undefined
  const text = stdin ? await readStdin() : readSecretFile(file ?? '', what)
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '') throw new Failure('usage', `The ${what} is empty.`)
  if (secret.length > maximumBytes) throw new Failure('usage', `The ${what} is longer than ${maximumBytes} bytes.`)
  return secret
}

/** Read as a stream, because a non-blocking pipe answers EAGAIN to a synchronous read. */
export async function readStdin(): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

function readSecretFile(file: string, what: string): string {
  try {
    // No other user can read a pipe such as <(pass show svc), whatever its mode is.
    if (statSync(file).isFile()) refuseReadableByOthers(file)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Failure) throw error
    throw unreadable(`the ${what} file ${file}`, error)
  }
}

/** The secret from the named source, else from a prompt. Without a terminal it fails with `ending` and names the flags. */
export async function secretOrAsk(
  source: SecretSource,
  what: string,
  question: string,
  ending: 'usage' | 'notAllowed' = 'usage',
  check?: Check,
): Promise<string> {
  const given = await readSecret(source, what)
  if (given !== undefined) {
    const fault = check?.(given) ?? true
    if (fault !== true) throw new Failure('usage', fault.replace(/^It /, `The ${what} `))
    return given
  }
  if (!isInteractive()) {
    const flags = [...('stdin' in source ? [`--${what}-stdin`] : []), `--${what}-file FILE`].join(' or ')
    throw new Failure(
      ending,
      `The ${what} is needed, and there is no terminal to ask for it.`,
      `Give it with ${flags}.`,
    )
  }
  return askPassword(question, check)
}
