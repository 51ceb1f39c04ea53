/**
 * Turns every error of a command into one clear line on stderr and an exit code.
 *
 * With --json the line is a problem document: the API's own if the API refused, else one
 * with a code below `cli.`. Errors of modules that are not always loaded (configuration,
 * database, prompts) are recognised by their name.
 */
import { randomUUID } from 'node:crypto'
import { type Problem, problemBody, problemOf } from '../core/contract/problem.ts'
import type { OfAddress } from '../core/kernel/database/client.ts'
import { writeJson } from '../core/kernel/values/json.ts'
import { AnsweredProblem } from './call/answered-problem.ts'
import { type Ending, endingOf, exitCodes, Failure } from './failure.ts'
import { printable } from './render/printable.ts'
import { problemLines, wordsOf } from './render/problem.ts'
import { nearestCommand, nearestFlag } from './suggestion.ts'
import { asTyped } from './typed-name.ts'

interface Told {
  readonly ending: Ending
  readonly lines: readonly string[]
  readonly document: unknown
}

/** Writes the error to stderr and returns the exit code. Writes nothing if the command ended itself with a code. */
export function report(error: unknown, asJson: boolean): number {
  const exit = exitOf(error)
  if (exit !== undefined) return exit
  const { ending, lines, document } = told(error)
  process.stderr.write(asJson ? `${printable(writeJson(document) ?? '')}\n` : `${asTyped(lines.join('\n'))}\n`)
  if (showsTraces() && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return exitCodes[ending]
}

const showsTraces = () => process.env['SVC_LOG_LEVEL'] === 'trace' || Boolean(process.env['DEBUG'])

/** oclif's own way to end with a code. */
function exitOf(error: unknown): number | undefined {
  const { code, oclif } = error as { code?: unknown; oclif?: { exit?: number } }
  return code === 'EEXIT' ? (oclif?.exit ?? 0) : undefined
}

function told(error: unknown): Told {
  const problem = problemOf(error)
  if (problem) return toldProblem(problem)
  const failure = failureOf(error)
  const lines = [printable([failure.message, failure.remedy].filter(Boolean).join(' '))]
  return { ending: failure.ending, lines, document: documentOf(failure) }
}

function toldProblem(problem: Problem): Told {
  const lines = problemLines(problem)
  if (problem instanceof AnsweredProblem) {
    const named = problem.status >= 500 && problem.requestId ? [`  request id  ${printable(problem.requestId)}`] : []
    return {
      ending: endingOf(problem.status),
      lines: [...lines, ...named],
      document: worded(problem.document, problem),
    }
  }
  return { ending: endingOf(problem.status), lines, document: worded(problemBody(problem, randomUUID()), problem) }
}

/** The document of a problem, and what the terminal says of it. The API sends neither (docs/decisions/0013). */
const worded = (document: object, problem: Problem) => ({ ...document, ...wordsOf(problem) })

const documentOf = ({ ending, message, remedy }: Failure) => {
  const code = `cli.${ending.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
  return { type: `urn:problem:svc:${code}`, code, params: {}, detail: message, ...(remedy ? { remedy } : {}) }
}

const endingsByName: Readonly<Record<string, Ending>> = {
  ConfigurationError: 'usage',
  EmbeddedFailure: 'unreached',
  SchemaError: 'conflict',
  SnapshotRefused: 'conflict',
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof Error)) return new Failure('failed', `Failed: ${String(error)}.`)
  if (error.name === 'ExitPromptError' || error.name === 'AbortPromptError')
    return new Failure('interrupted', 'Interrupted. Nothing was done.')
  const ending = endingsByName[error.name]
  if (ending) return new Failure(ending, error.message, (error as { remedy?: string }).remedy)
  if ('oclif' in error) return usageFailure(error)
  const known = unreachedDatabase(error) ?? unwritable(error)
  if (known) return known
  return new Failure(
    'failed',
    `Failed: ${oneLine(error.message)}.`,
    'Run it again with SVC_LOG_LEVEL=trace to see where.',
  )
}

const unreachedCodes =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08...|28...|3D000|53300|57P0.)$/

const untrusted =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/

/** A database that was not reached. If several addresses were tried, the driver throws an AggregateError. */
function unreachedDatabase(error: Error): Failure | undefined {
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const { code, message } = cause as NodeJS.ErrnoException
  const { variable = 'SVC_DATABASE_URL' } = error as Partial<OfAddress>
  if (untrusted.test(code ?? ''))
    return new Failure(
      'unreached',
      `The certificate of the database is not trusted: ${oneLine(message)}.`,
      `A private authority is named in ${variable}: ?sslmode=verify-full&sslrootcert=FILE (docs/deploying.md).`,
    )
  const timedOut = message === 'timeout expired' || message === 'Connection terminated due to connection timeout'
  if (!timedOut && !unreachedCodes.test(code ?? '')) return undefined
  return new Failure(
    'unreached',
    `The database cannot be reached: ${oneLine(message)}.`,
    `Check ${variable}; \`svc doctor\` says more.`,
  )
}

/** A refusal of the operating system, without its own message, which only repeats the system call. */
function unwritable(error: Error): Failure | undefined {
  const { code, path } = error as NodeJS.ErrnoException
  const where = path === undefined ? '' : ` (${path})`
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return new Failure('failed', `There is no space left on the disk${where}.`, 'Free space, then repeat the command.')
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new Failure(
      'failed',
      `${path ?? 'A file'} cannot be opened or written (${code}).`,
      'Check its owner and its mode.',
    )
  return undefined
}

/** oclif's complaint about arguments, flags or an unknown command. */
function usageFailure(error: Error): Failure {
  const { args } = error as { args?: readonly { readonly name: string; readonly description?: string }[] }
  if (error.message.startsWith('Missing ') && Array.isArray(args)) {
    const named = args.map(({ name, description }) => `${name.toUpperCase()}${description ? `, ${description}` : ''}`)
    return new Failure('usage', `Missing: ${oneLine(named.join('; '))}.`, '`--help` shows the usage.')
  }
  const said = oneLine(
    error.message.replace('See more help with --help', '').replace(/^The following errors? occurred:/, ''),
  )
  const unknown = /^Command (.+) not found/i.exec(said)
  if (unknown) {
    const typed = unknown[1]?.replaceAll(':', ' ') ?? ''
    const meant = nearestCommand(typed)
    const asked = meant === undefined ? '' : ` Did you mean \`svc ${meant}\`?`
    return new Failure('usage', `There is no command "${typed}".${asked}`, '`svc help` lists the commands.')
  }
  const flag = nearestFlag(error)
  const asked = flag === undefined ? '' : ` Did you mean ${flag}?`
  return new Failure('usage', `${/[.!?]$/.test(said) ? said : `${said}.`}${asked}`, '`--help` shows the usage.')
}

const colours = /\u001b\[[0-9;]*m/g
const oneLine = (text: string) => text.replace(colours, '').replace(/\s+/g, ' ').trim()
