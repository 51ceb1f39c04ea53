/** A file that the user named and that cannot be read, in words: why, and what helps. */
import { Failure } from '../failure.ts'

/** `named`: the file in a sentence, such as `the settings file a.yaml`. */
export function unreadable(named: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new Failure('usage', `There is no file ${pathOf(named)}.`, 'Check its name.')
  const start = `${named[0]?.toUpperCase() ?? ''}${named.slice(1)}`
  if (code === 'EISDIR') return new Failure('usage', `${start} is a folder.`, 'Name a file in it.')
  if (code === 'EACCES' || code === 'EPERM')
    return new Failure(
      'usage',
      `${start} cannot be read by your user.`,
      'Its owner can allow that, or run this command.',
    )
  return new Failure('usage', `${start} cannot be read (${code ?? 'no reason is known'}).`)
}

const pathOf = (named: string) => named.replace(/^the (?:\S+ )*?file /, '')
