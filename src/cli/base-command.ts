/**
 * The base of every command: its output, how it ends, and its connection to the installation.
 *
 * stdout carries the answer, stderr everything else. `run()` returns the API's representation,
 * which is what --json prints, unchanged.
 */
import { Command, Flags, type Interfaces } from '@oclif/core'
import type { Answer, Operation, Sent } from '../core/contract/operation.ts'
import { stepUpOf, takesStepUp } from '../core/contract/operation.ts'
import { Problem } from '../core/contract/problem.ts'
import { requestOf } from '../core/kernel/request/request.ts'
import { writeJson } from '../core/kernel/values/json.ts'
import type { Caller } from './call/caller.ts'
import { openCaller } from './call/caller-choice.ts'
import { codesFrom, type ProofFlags, passwordOnceMore, withSecondFactor } from './input/second-factor-input.ts'
import type { AnswerForm, FormFlags } from './render/answer-form.ts'
import { printableLines } from './render/printable.ts'
import { asTyped } from './typed-name.ts'

/** A command that needs no installation. */
export abstract class BaseCommand extends Command {
  static override enableJsonFlag = true
  static override baseFlags = {
    'no-color': Flags.boolean({ summary: 'Print without colours, as with NO_COLOR.', helpGroup: 'GLOBAL' }),
    fields: Flags.string({
      summary: 'Print only these members of the answer, or of each of its rows: a,b.c',
      helpGroup: 'GLOBAL',
      helpValue: 'NAMES',
    }),
    jq: Flags.string({
      summary: 'Print what this jq expression makes of the answer; texts without quotes.',
      helpGroup: 'GLOBAL',
      helpValue: 'EXPRESSION',
      exclusive: ['output'],
    }),
    output: Flags.string({
      char: 'o',
      summary: 'Print the answer in this format.',
      helpGroup: 'GLOBAL',
      options: ['json', 'yaml', 'csv'],
    }),
    quiet: Flags.boolean({
      char: 'q',
      summary: 'Print the answer, errors and questions, but no messages.',
      helpGroup: 'GLOBAL',
    }),
  }

  /** How the answer is printed for programs; undefined: as JSON with --json, else for people. */
  #form: AnswerForm | undefined
  #isQuiet = false

  override async init(): Promise<void> {
    await super.init()
    if (this.argv.includes('--no-color')) process.env['NO_COLOR'] = '1'
  }

  /** report.ts prints every error, also with --json. */
  override async catch(error: Error): Promise<never> {
    throw error
  }

  /** The form of the answer is chosen here, because every command parses before it does anything. */
  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(options?: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    const parsed = await super.parse<F, B, A>(options, argv)
    const flags = parsed.flags as FormFlags & { readonly quiet?: boolean }
    this.#isQuiet = flags.quiet === true
    if (flags.fields !== undefined || flags.jq !== undefined || flags.output !== undefined) {
      const { formOf } = await import('./render/answer-form.ts')
      this.#form = await formOf(flags)
    }
    return parsed
  }

  /** Whether the answer is printed for programs: with --json, or in the form that other flags choose. */
  override jsonEnabled(): boolean {
    return this.#form !== undefined || super.jsonEnabled()
  }

  override logJson(value: unknown): void {
    process.stdout.write(`${this.#form?.whole(value) ?? printableLines(writeJson(value, 2))}\n`)
  }

  /** Prints one entry of a command that keeps printing: a line of words, or the entry for programs. */
  protected printEntry(value: unknown, inWords: () => string): void {
    const line = this.jsonEnabled() ? (this.#form?.entry(value) ?? printableLines(writeJson(value))) : inWords()
    if (line !== '') process.stdout.write(`${line}\n`)
  }

  /** What is printed for people cannot move the cursor, also where a command forgot that a name is not its own. */
  override log(text = '', ...values: unknown[]): void {
    super.log(printableLines(text), ...values)
  }

  /** Prints the answer for people; with --json it prints nothing. */
  protected async show(draw: () => string | Promise<string>): Promise<void> {
    if (!this.jsonEnabled()) this.log(await draw())
  }

  /** A message for people, on stderr; oclif drops it with --json. */
  protected readonly tell = (line: string): void => {
    if (!this.#isQuiet) this.logToStderr(printableLines(asTyped(line)))
  }

  /** A message on stderr also with --json, such as a retry, or which database is used. */
  protected readonly note = (line: string): void => {
    if (!this.#isQuiet) process.stderr.write(`${printableLines(asTyped(line))}\n`)
  }
}

export interface CallerFlags {
  readonly profile?: string | undefined
  readonly 'api-url'?: string | undefined
  readonly recovery?: boolean
  readonly 'while-serving'?: boolean
}

/** Which installation a command calls, and with which profile. */
export const targetFlags = {
  profile: Flags.string({
    summary: "The profile to use instead of this folder's.",
    helpGroup: 'GLOBAL',
    helpValue: 'NAME',
  }),
  'api-url': Flags.string({
    summary: 'The URL of the installation; overrides SVC_API_URL.',
    helpGroup: 'GLOBAL',
    helpValue: 'URL',
  }),
}

const proofIsNeeded = Symbol('a proof is needed')

function unlessProofIsNeeded(error: unknown): typeof proofIsNeeded {
  if (error instanceof Problem && error.code === 'auth.step_up_required') return proofIsNeeded
  throw error
}

/** A command that carries out operations, over the API or directly on the database. */
export abstract class CallerCommand extends BaseCommand {
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    ...targetFlags,
    recovery: Flags.boolean({
      summary: 'Work directly on the database, while no daemon runs.',
      helpGroup: 'GLOBAL',
      exclusive: ['profile', 'api-url'],
    }),
    'while-serving': Flags.boolean({
      summary: 'Work on the database even while a daemon serves it.',
      helpGroup: 'GLOBAL',
    }),
  }

  #caller: Caller | undefined

  /** Connects to the installation until the command ends. `makes`: the command may create the embedded installation. */
  protected async open(flags: CallerFlags, { makes = false }: { makes?: boolean } = {}): Promise<Caller> {
    this.#caller ??= await openCaller(
      {
        recovery: flags.recovery,
        whileServing: flags['while-serving'],
        profile: flags.profile,
        apiUrl: flags['api-url'],
        makes,
      },
      this.note,
    )
    return this.#caller
  }

  /** The next command to type, with the flags that chose the installation for this one. */
  protected following(command: string, flags: CallerFlags): string {
    const same = [
      flags.recovery ? ' --recovery' : '',
      flags['while-serving'] ? ' --while-serving' : '',
      flags.profile === undefined ? '' : ` --profile ${flags.profile}`,
      flags['api-url'] === undefined ? '' : ` --api-url ${flags['api-url']}`,
    ]
    return `svc ${command}${same.join('')}`
  }

  override async finally(error: Error | undefined): Promise<void> {
    await this.#caller?.close()
    await super.finally(error)
  }

  /**
   * Calls an operation that needs or accepts a step-up. It asks for the password and the second factor, exchanges
   * them for a proof that is bound to this operation and its target, and sends the proof with the call. At the
   * database no proof is needed: the operating system has authenticated the caller.
   */
  protected async callProven<O extends Operation>(
    caller: Caller,
    operation: O,
    sent: Sent<O>,
    source: ProofFlags,
  ): Promise<Answer<O>> {
    const { params, body } = requestOf(operation, sent)
    if (!caller.stepUp || !takesStepUp(operation, body)) return caller.call(operation, sent)
    // An elevated session needs no proof. Whoever gives the password means to show it.
    const isGiven = source['password-stdin'] === true || source['password-file'] !== undefined
    if (stepUpOf(operation.needs) === 'or elevated' && !isGiven) {
      const answer = await caller.call(operation, sent).catch(unlessProofIsNeeded)
      if (answer !== proofIsNeeded) return answer
    }
    const password = await passwordOnceMore(source)
    const [targetId] = Object.values((params ?? {}) as Record<string, string>)
    const prove = caller.stepUp
    const stepUp = await withSecondFactor(codesFrom(source['code-file']), (shown) =>
      prove(operation, targetId, { password, ...shown }),
    )
    return caller.call(operation, { ...sent, stepUp })
  }
}
