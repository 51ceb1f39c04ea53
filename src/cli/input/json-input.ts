/** JSON on a command line: as it stands, `@file`, or `-` for stdin. */
import { readFileSync } from 'node:fs'
import { Failure } from '../failure.ts'
import { readStdin } from './secret-input.ts'

/** Fails (usage) for what is no JSON, or a file that cannot be read. */
export async function readJson(given: string, what: string): Promise<unknown> {
  const text = given === '-' ? await readStdin() : given.startsWith('@') ? readText(given.slice(1), what) : given
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure('usage', `The ${what} is not JSON.`, 'Write it in single quotes, or name a file as @FILE.')
  }
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new Failure('usage', `The file "${file}" of the ${what} cannot be read.`, 'Name a file that you may read.')
  }
}
