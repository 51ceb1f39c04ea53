/**
 * Questions on a terminal. They go to stderr, because stdout carries the answer. Without
 * a terminal nothing is asked: the command fails and names the flag.
 */
import { Failure } from '../failure.ts'
import { printable } from '../render/printable.ts'

export const isInteractive = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Returns true, or the fault of a value in words. */
export type Check = (value: string) => true | string

async function prompt(question: Record<string, unknown>): Promise<unknown> {
  const { default: inquirer } = await import('inquirer')
  const ask = inquirer.createPromptModule({ input: process.stdin, output: process.stderr })
  const { answer } = (await ask([{ ...question, name: 'answer' } as never])) as { answer: unknown }
  return answer
}

export async function askText(message: string, check: Check, suggested?: string): Promise<string> {
  return String(
    await prompt({
      type: 'input',
      message,
      validate: check,
      ...(suggested === undefined ? {} : { default: suggested }),
    }),
  )
}

export async function askPassword(
  message: string,
  check: Check = (value) => value !== '' || 'It must not be empty.',
): Promise<string> {
  return String(await prompt({ type: 'password', message, mask: '*', validate: check }))
}

export async function askYesNo(message: string, suggested: boolean): Promise<boolean> {
  return Boolean(await prompt({ type: 'confirm', message, default: suggested }))
}

/** The failure of a user that declines; a name that is typed wrongly, or given wrongly with --confirm, declines too. */
export const declined = () => new Failure('failed', 'Nothing was done.')

/**
 * Asks the user to type a name before a change that is hard to undo; `confirmed` (from
 * --confirm) replaces the question. `also`: a slug, which serves where the name has blanks or another script. Fails if the
 * name differs, or without it if there is no terminal.
 */
export async function confirmByName(
  name: string,
  what: string,
  confirmed: string | undefined,
  also?: string,
): Promise<void> {
  const isNamed = (typed: string) => typed === name || typed === also
  if (confirmed !== undefined && isNamed(confirmed)) return
  if (confirmed !== undefined) throw new Failure('failed', `--confirm differs from ${name}. Nothing was done.`)
  if (!isInteractive())
    throw new Failure('usage', `${what} Nothing was done.`, `To confirm, add: --confirm ${quoted(also ?? name)}`)
  process.stderr.write(`${printable(what)}\n`)
  const typed = await askText(
    `Type ${printable(name)} to confirm${also === undefined ? '' : ` (or ${also})`}:`,
    () => true,
  )
  if (!isNamed(typed)) throw declined()
}

/** A word as a shell takes it. */
const quoted = (word: string) => (/^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
