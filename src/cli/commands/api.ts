import { Args, Flags } from '@oclif/core'
import { passwordOperations } from '../../core/contract/auth/operations.ts'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'
import { writeJson } from '../../core/kernel/values/json.ts'
import { BaseCommand, targetFlags } from '../base-command.ts'
import { type ApiTarget, answerOf, type CallerKind, sendSigned } from '../call/api-caller.ts'
import { apiTargetOf } from '../call/caller-choice.ts'
import type { HttpAnswer } from '../call/http.ts'
import { outgoingOf, rawPath, withQuery } from '../call/raw-call.ts'
import { Failure } from '../failure.ts'
import {
  codesFrom,
  type ProofFlags,
  passwordOnceMore,
  proofFlags,
  withSecondFactor,
} from '../input/second-factor-input.ts'
import { printableLines } from '../render/printable.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export default class Api extends BaseCommand {
  static override summary = 'Send any request to the API, with the token or the profile in use'
  static override description =
    'The path is relative to /api/v1. A GET sends the fields in its query, every other method in a JSON body; a PATCH is sent as a merge-patch. ' +
    'Paths below /admin use the admin token.'
  static override examples = [
    '<%= config.bin %> api GET /admin/tenants -f state=ACTIVE --paginate',
    '<%= config.bin %> api PATCH /admin/tenants/0190c9d2-7a3b-7cde-8f01-23456789abcd/quotas -F items=5000',
    '<%= config.bin %> api POST /auth/tokens --input token.json --step-up',
    '<%= config.bin %> api POST /admin/tenants --input tenant.json -H "Idempotency-Key: 7d1f0a52-3c6e-4a8b-9d55-0c9b7f6f2f11" --include',
  ]
  static override args = {
    method: Args.string({
      ignoreStdin: true,
      required: true,
      description: methods.join(', '),
      parse: async (value) => value.toUpperCase(),
      options: [...methods, ...methods.map((method) => method.toLowerCase())],
    }),
    path: Args.string({ ignoreStdin: true, required: true, description: 'relative to /api/v1, e.g. /accounts/me' }),
  }
  static override flags = {
    'raw-field': Flags.string({
      char: 'f',
      summary: 'A field whose value is text: NAME=TEXT.',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NAME=TEXT',
    }),
    field: Flags.string({
      char: 'F',
      summary: 'A field whose value is read as JSON if possible (true, null, 5), else as text; @FILE reads a file.',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NAME=VALUE',
    }),
    input: Flags.string({
      summary: 'Read the body from a file; - reads standard input.',
      helpValue: 'FILE',
      exclusive: ['field', 'raw-field'],
    }),
    header: Flags.string({
      char: 'H',
      summary: 'A header: "Name: value".',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'HEADER',
    }),
    'step-up': Flags.boolean({
      summary: 'Ask for the password (and the second factor), and send a new step-up proof with the request.',
    }),
    ...proofFlags,
    include: Flags.boolean({ char: 'i', summary: 'Also print the status and the headers.' }),
    paginate: Flags.boolean({ summary: 'Follow next_cursor and print all pages as one list.' }),
    ...targetFlags,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Api)
    const target = apiTargetOf({ profile: flags.profile, apiUrl: flags['api-url'] }, loadEnvironment(), this.note)
    if (!target)
      throw new Failure(
        'usage',
        'This folder has no profile, and SVC_API_URL and SVC_TOKEN are not set.',
        '`svc login` makes a profile.',
      )
    const path = rawPath(args.path)
    const outgoing = await outgoingOf(args.method, path, flags)
    if (flags.paginate && args.method !== 'GET') throw new Failure('usage', '--paginate works only with GET.')
    const kind = path.startsWith('/admin') ? 'operator' : 'account'
    const proof = flags['step-up'] ? await proofFor(target, kind, flags) : {}
    const mayRepeat = args.method === 'GET' || 'idempotency-key' in outgoing.headers
    const send = (at: string) =>
      sendSigned(target, kind, { ...outgoing, headers: { ...outgoing.headers, ...proof }, path: at }, mayRepeat)

    const answer = await send(outgoing.path)
    if (flags.include) this.log(printableLines(head(answer)))
    const first = answerOf(answer, target.apiUrl)
    const whole = flags.paginate
      ? await followed(first, async (cursor) =>
          answerOf(await send(withQuery(outgoing.path, { cursor })), target.apiUrl),
        )
      : first
    if (whole !== undefined && !this.jsonEnabled()) this.logJson(whole)
    return whole
  }
}

/** The step-up header. The proof is requested with the token that the call will send, because it is bound to that token. */
async function proofFor(target: ApiTarget, kind: CallerKind, source: ProofFlags): Promise<Record<string, string>> {
  const password = await passwordOnceMore(source)
  const { path } = passwordOperations.stepUp
  const { step_up_token } = await withSecondFactor(codesFrom(source['code-file']), async (shown) => {
    const body = writeJson({ password, ...shown })
    const asked = { method: 'POST', path, headers: {}, body, mediaType: 'application/json' }
    return answerOf(await sendSigned(target, kind, asked, false), target.apiUrl) as { step_up_token: string }
  })
  return { 'x-service-step-up': step_up_token }
}

const head = ({ status, headers }: HttpAnswer) =>
  `HTTP ${status}\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n`

/** Reads every page, and returns the first page with the rows of all of them. */
async function followed(first: unknown, next: (cursor: string) => Promise<unknown>): Promise<unknown> {
  const data: unknown[] = []
  for (let page = first; ; ) {
    const { data: rows, next_cursor: cursor } = page as { data?: unknown; next_cursor?: string | null }
    if (!Array.isArray(rows)) return first
    data.push(...rows)
    if (!cursor) return { ...(first as object), data, next_cursor: null }
    page = await next(cursor)
  }
}
