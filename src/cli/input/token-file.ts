/**
 * A new file of mode 0600 for a secret that is shown only once. It is made before the call,
 * with its space reserved, so that a full disk fails before the call and not after it.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { Failure } from '../failure.ts'

/** The flag of every command whose answer holds a secret that is shown once. */
export const tokenFileFlag = (what: string) =>
  Flags.string({
    summary: `Write ${what} to this new file of mode 0600 instead of printing it. --json then has null in its place, and the path as token_file.`,
    helpValue: 'FILE',
  })

/** The answer for --json. The secret is only in the file, so the answer has null and the path instead. */
export const withTokenFile = <T extends object>(answer: T, member: keyof T, path: string | undefined) =>
  path === undefined ? answer : { ...answer, [member]: null, token_file: resolve(path) }

/** More bytes than any token has. */
const reservedBytes = 256

/**
 * Makes the call and writes the token of its answer to the file; without a path it only
 * makes the call. A failed call leaves no file. Fails (usage) before the call if the file
 * exists already or cannot be written.
 */
export async function keepingToken<T>(
  path: string | undefined,
  tokenOf: (answer: T) => string,
  call: () => Promise<T>,
): Promise<T> {
  if (path === undefined) return call()
  const file = reserve(path)
  try {
    const answer = await call()
    const text = `${tokenOf(answer)}\n`
    writeSync(file, text, 0)
    ftruncateSync(file, Buffer.byteLength(text))
    fsyncSync(file)
    return answer
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

function reserve(path: string): number {
  let file: number | undefined
  try {
    file = openSync(path, 'wx', 0o600)
    writeSync(file, ' '.repeat(reservedBytes), 0)
    fsyncSync(file)
    return file
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Failure('usage', `${path} exists already.`, 'Name another file. Nothing was done.')
    if (file !== undefined) {
      closeSync(file)
      rmSync(path, { force: true })
    }
    throw new Failure('usage', `${path} cannot be written (${code}).`, 'Name another file. Nothing was done.')
  }
}
