/**
 * Questions on a terminal. They are asked on stderr, because stdout is the answer.
 * Where there is no terminal nothing is asked: the command fails and names the flag.
 */
import { Failure } from '../failure.ts'
import { printable } from '../render/printable.ts'

export const isInteractive = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Answers what is wrong with a value in words, or true. */
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
  check: Check = (value) => value !== '' || 'must not be empty',
): Promise<string> {
  return String(await prompt({ type: 'password', message, mask: '*', validate: check }))
}

export async function askYesNo(message: string, suggested: boolean): Promise<boolean> {
  return Boolean(await prompt({ type: 'confirm', message, default: suggested }))
}

/** The failure of whoever declines. */
export const declined = () => new Failure('failed', 'Nothing was done.')

/**
 * Lets a name be typed before something that cannot simply be taken back; `confirmed`
 * (from --confirm) answers it. Fails where the name differs, and off a terminal without it.
 */
export async function confirmByName(name: string, what: string, confirmed: string | undefined): Promise<void> {
  if (confirmed === name) return
  if (confirmed !== undefined)
    throw new Failure('usage', `--confirm says something else than ${name}. Nothing was done.`)
  if (!isInteractive()) throw new Failure('usage', `${what} Nothing was done.`, `To go on, add: --confirm ${name}`)
  process.stderr.write(`${printable(what)}\n`)
  const typed = await askText(`Type ${name} to go on:`, () => true)
  if (typed !== name) throw declined()
}
