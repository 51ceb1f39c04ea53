/**
 * What every command has: how it speaks, how it ends, and how it reaches the installation.
 *
 * stdout is the answer, stderr everything else. `run()` returns the API's representation,
 * which is what --json prints, unchanged.
 */
import { Command, Flags } from '@oclif/core'
import type { Answer, Operation, Sent } from '../core/contract/operation.ts'
import { takesStepUp } from '../core/contract/operation.ts'
import { requestOf } from '../core/kernel/request/request.ts'
import { writeJson } from '../core/kernel/values/json.ts'
import type { Caller } from './call/caller.ts'
import { openCaller } from './call/caller-choice.ts'
import { codesFrom, type ProofFlags, passwordOnceMore, withSecondFactor } from './input/second-factor-input.ts'
import { printableLines } from './render/printable.ts'

/** A command that needs no installation. */
export abstract class BaseCommand extends Command {
  static override enableJsonFlag = true
  static override baseFlags = {
    'no-color': Flags.boolean({ summary: 'No colours, as with NO_COLOR.', helpGroup: 'GLOBAL' }),
  }

  override async init(): Promise<void> {
    await super.init()
    if (this.argv.includes('--no-color')) process.env['NO_COLOR'] = '1'
  }

  /** Everything thrown is told in one place (report.ts), also with --json. */
  override async catch(error: Error): Promise<never> {
    throw error
  }

  override logJson(value: unknown): void {
    process.stdout.write(`${printableLines(writeJson(value, 2) ?? '')}\n`)
  }

  /** Prints the answer for people; nothing is drawn where it is wanted as JSON. */
  protected async show(draw: () => string | Promise<string>): Promise<void> {
    if (!this.jsonEnabled()) this.log(await draw())
  }

  /** Tells people on stderr; says nothing where only JSON is wanted. */
  protected readonly tell = (line: string): void => this.logToStderr(printableLines(line))

  /** What matters also to whoever reads JSON, such as a retry or which database is touched. */
  protected readonly note = (line: string): void => void process.stderr.write(`${printableLines(line)}\n`)
}

export interface CallerFlags {
  readonly profile?: string | undefined
  readonly 'api-url'?: string | undefined
  readonly recovery?: boolean
  readonly 'while-serving'?: boolean
}

/** Which installation is called, and as whom. */
export const targetFlags = {
  profile: Flags.string({
    summary: "The profile to use instead of this folder's.",
    helpGroup: 'GLOBAL',
    helpValue: 'NAME',
  }),
  'api-url': Flags.string({
    summary: 'The installation to call; overrides SVC_API_URL.',
    helpGroup: 'GLOBAL',
    helpValue: 'URL',
  }),
}

/** A command that carries out operations, over the API or directly on the database. */
export abstract class CallerCommand extends BaseCommand {
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    ...targetFlags,
    recovery: Flags.boolean({
      summary: 'Work directly on the database, with the daemon down.',
      helpGroup: 'GLOBAL',
      exclusive: ['profile', 'api-url'],
    }),
    'while-serving': Flags.boolean({
      summary: 'Work on the database although a daemon serves it.',
      helpGroup: 'GLOBAL',
    }),
  }

  #caller: Caller | undefined

  /** Opens the way to the installation; it is closed when the command ends. `makes`: the embedded one may be made for it. */
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

  /** A command to type next, on the same installation: with the flags that this one was given for that. */
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
   * Carries out an operation that may want a step-up, or takes one that is sent: proves who is calling with the
   * password and the second factor, bound to this operation and its target, and sends the proof along. At the
   * database nothing is proven: the operating system has let the caller in.
   */
  protected async callProven<O extends Operation>(
    caller: Caller,
    operation: O,
    sent: Sent<O>,
    source: ProofFlags,
  ): Promise<Answer<O>> {
    const { params, body } = requestOf(operation, sent)
    if (!caller.stepUp || !takesStepUp(operation, body)) return caller.call(operation, sent)
    const password = await passwordOnceMore(source)
    const [targetId] = Object.values((params ?? {}) as Record<string, string>)
    const prove = caller.stepUp
    const stepUp = await withSecondFactor(codesFrom(source['code-file']), (shown) =>
      prove(operation, targetId, { password, ...shown }),
    )
    return caller.call(operation, { ...sent, stepUp })
  }
}
