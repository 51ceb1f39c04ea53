/** A file for something that is shown once: new, mode 0600, and made before there is anything to lose. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { Failure } from './failure.ts'

export interface TokenFile {
  write(token: string): void
  /** Removes it again, where there was nothing to write. */
  discard(): void
}

/** Opens the file. Fails (usage) where it exists already or cannot be made: nothing is overwritten. */
export function prepareTokenFile(path: string): TokenFile {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Failure(
      'usage',
      code === 'EEXIST' ? `${path} exists already.` : `${path} cannot be made (${code}).`,
      'Name another file. Nothing was done.',
    )
  }
  return {
    write(token) {
      writeSync(file, `${token}\n`)
      fsyncSync(file)
      closeSync(file)
    },
    discard() {
      closeSync(file)
      rmSync(path, { force: true })
    },
  }
}
