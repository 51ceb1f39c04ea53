/**
 * The form in which a command prints its answer for programs: whole as JSON, or the members, the jq expression or the format
 * that the caller chose. What only some of them need is loaded when it is asked for. docs/decisions/0291.
 */
import { writeJson } from '../../core/kernel/values/json.ts'
import { Failure } from '../failure.ts'
import { csvOf } from './csv.ts'
import { fieldsFrom } from './fields.ts'
import { printableLines } from './printable.ts'

export interface AnswerForm {
  /** The whole answer. */
  readonly whole: (value: unknown) => string
  /** One entry of a command that keeps printing: JSON on one line. */
  readonly entry: (value: unknown) => string
}

export interface FormFlags {
  readonly fields?: string | undefined
  readonly jq?: string | undefined
  readonly output?: string | undefined
}

/** Escapes are valid in JSON strings, so the text keeps its meaning. */
const jsonForm: AnswerForm = {
  whole: (value) => printableLines(writeJson(value, 2)),
  entry: (value) => printableLines(writeJson(value)),
}

/** The form that the flags choose; undefined where they choose none. Fails (usage) for an expression that jq does not read. */
export async function formOf({ fields, jq, output }: FormFlags): Promise<AnswerForm | undefined> {
  if (fields === undefined && jq === undefined && output === undefined) return undefined
  const form = await formatOf(jq, output)
  if (fields === undefined) return form
  const names = fields.split(',').map((name) => name.trim())
  const chosen = (value: unknown) => fieldsFrom(value, names)
  return { whole: (value) => form.whole(chosen(value)), entry: (value) => form.entry(chosen(value)) }
}

async function formatOf(jq: string | undefined, output: string | undefined): Promise<AnswerForm> {
  if (jq !== undefined) return jqForm(jq)
  if (output === 'yaml') return yamlForm()
  return output === 'csv' ? csvForm() : jsonForm
}

/** On a terminal the text of others is made safe; a pipe gets it as it is. Tabs are what `@tsv` is for. */
const shown = (text: string) =>
  (process.stdout.isTTY ? text.split('\t').map(printableLines).join('\t') : text).replace(/\n$/, '')

async function jqForm(expression: string): Promise<AnswerForm> {
  const { default: loading } = await import('jq-web')
  const jq = await loading
  const run = (json: string, filter: string, fails: string) => {
    try {
      return jq.raw(json, filter, ['-r', '-c'])
    } catch (error) {
      throw new Failure('usage', `${fails}: ${reasonOf(error as Error)}.`, 'https://jqlang.org/manual describes jq.')
    }
  }
  // Before anything is done, so that a command does not fail behind its change.
  run('null', `empty | (${expression}\n)`, 'jq does not read the expression')
  const print = (value: unknown) => shown(run(writeJson(value), expression, 'jq cannot apply the expression'))
  return { whole: print, entry: print }
}

const reasonOf = ({ message }: Error) =>
  message
    .replace(/^Non-zero exit code: \d+/, '')
    .replaceAll(/jq: \d+ compile errors?|jq: error(?: \([^)]*\))?: /g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')

async function yamlForm(): Promise<AnswerForm> {
  const { stringify } = await import('yaml')
  const whole = (value: unknown) => shown(stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }))
  return { whole, entry: (value) => `---\n${whole(value)}` }
}

function csvForm(): AnswerForm {
  let isFirst = true
  return {
    whole: (value) => shown(csvOf(value)),
    entry(value) {
      const [head, ...rows] = csvOf(value).split('\n')
      const lines = isFirst ? [head, ...rows] : rows
      isFirst = false
      return shown(lines.join('\n'))
    },
  }
}
