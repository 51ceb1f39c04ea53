/**
 * Problems: every refusal the product can answer, declared once.
 *
 * A row says the status, the names of the parameters, the database constraint that
 * stands for it, and two texts for people. The texts never travel over the API, which
 * answers codes and parameters only (RFC 9457 without `title` and `detail`); the
 * command line and the generated documents print them.
 *
 * Rows that the kernel refuses with are here, an area's are in `<area>/problems.ts`. Adding a
 * code is adding a row: `GET /meta/problems`, the OpenAPI document and
 * docs/generated/problems.md follow, in the order of this table.
 *
 * Spec: Errors; decisions 1.
 */

import { aiProblems } from './ai/problems.ts'
import { authProblems } from './auth/problems.ts'
import { backupProblems } from './backup/problems.ts'
import { commentProblems } from './comments/problems.ts'
import { consentProblems } from './consents/problems.ts'
import { containerProblems } from './containers/problems.ts'
import { groupProblems } from './groups/problems.ts'
import { identityProblems } from './identity/problems.ts'
import { itemProblems } from './items/problems.ts'
import { mailProblems } from './mail/problems.ts'
import { mediaProblems } from './media/problems.ts'
import { notificationProblems } from './notifications/problems.ts'
import { operatorProblems } from './operators/problems.ts'
import { privacyProblems } from './privacy/problems.ts'
import { providerProblems } from './providers/problems.ts'
import { retentionProblems } from './retention/problems.ts'
import { settingsProblems } from './settings/problems.ts'
import { structureProblems } from './structure/problems.ts'
import { passwordOpeningProblems, setUpProblems, tenantProblems } from './tenants/problems.ts'
import { webhookProblems } from './webhooks/problems.ts'

interface ProblemRow {
  readonly status: number
  /** The status where the same refusal is a matter of rate, not of state. */
  readonly rateStatus?: number
  readonly params?: readonly string[]
  /** Parameters that are there only where there is something to say. */
  readonly optionalParams?: readonly string[]
  /** The named constraint whose violation means this refusal. */
  readonly constraint?: string
  /** What happened, for people; `{name}` is replaced by the parameter. */
  readonly says: string
  /** What to do about it, for people. */
  readonly remedy?: string
}

export const problems = {
  'request.malformed': {
    status: 400,
    optionalParams: ['more'],
    says: 'The request could not be read.',
    remedy: 'Check the path, the query and the JSON.',
  },
  'request.invalid': {
    status: 422,
    optionalParams: ['more'],
    says: 'The request violates a rule of its schema.',
    remedy: 'Each line below shows a member and the rule that it violates.',
  },
  'request.media_type': { status: 415, params: ['accepted'], says: 'The body is not of the media type {accepted}.' },
  'request.too_large': { status: 413, params: ['limit_bytes'], says: 'The body is larger than {limit_bytes} bytes.' },
  'request.method': { status: 405, params: ['allow'], says: 'This path serves {allow} only.' },
  'request.timeout': { status: 408, says: 'The request did not arrive in time.' },
  'request.limited': {
    status: 429,
    params: ['limit', 'window_seconds'],
    says: 'Too many calls from one address: at most {limit} in {window_seconds} s are served.',
    remedy: 'Wait as long as Retry-After says. Behind a reverse proxy, set SVC_TRUSTED_PROXIES (docs/deploying.md).',
  },
  not_found: {
    status: 404,
    says: 'Nothing with this name or id exists here.',
    remedy: 'Check the id or the name; what you may not see answers alike.',
  },
  'precondition.failed': {
    status: 412,
    params: ['current_etag'],
    says: 'It was changed in the meantime; its entity tag is now {current_etag}.',
    remedy: 'Read it again and repeat the change.',
  },
  'cursor.invalid': {
    status: 400,
    says: 'The cursor does not belong to this list.',
    remedy: 'Start again without a cursor.',
  },
  gone: {
    status: 410,
    says: 'The cursor is too old, or from before a recovery of the installation.',
    remedy: 'Start again without a cursor.',
  },
  'idempotency.key_reused': {
    status: 422,
    says: 'The Idempotency-Key was already used for another request.',
    remedy: 'Use a new key for a new request.',
  },
  'idempotency.in_progress': {
    status: 409,
    says: 'The first request with this Idempotency-Key is still running.',
    remedy: 'Repeat the request in a second.',
  },
  'quota.exceeded': {
    status: 409,
    rateStatus: 429,
    params: ['quota', 'limit', 'used'],
    says: 'The quota {quota} of {limit} is exceeded ({used} used).',
    remedy: 'An operator can raise it: `svc tenants quotas set SLUG {quota}=N`.',
  },
  'service.unavailable': {
    status: 503,
    says: 'The database cannot be reached or is too slow, or a required copy of the obligation ledger cannot be written.',
    remedy: '`svc doctor` says what is wrong.',
  },
  internal: { status: 500, says: 'The server failed. Its log has the cause under the request id.' },
  'egress.forbidden': {
    status: 422,
    says: 'The daemon may not call this host.',
    remedy: 'Use a public host; an operator can allow other hosts with SVC_EGRESS_ALLOW.',
  },
  ...backupProblems,
  'secret.unavailable': {
    status: 503,
    says: 'A sealed value cannot be decrypted with the current keyring.',
    remedy: 'Run `svc keyring show`, and see docs/runbooks/keyring.md.',
  },
  ...aiProblems,
  'order.exhausted': {
    status: 409,
    says: 'There is no space left between these two neighbours.',
    remedy: 'Move one of them to an end, and then back.',
  },
  ...containerProblems,
  ...groupProblems,
  ...itemProblems,
  ...commentProblems,
  ...mediaProblems,
  ...structureProblems,
  ...providerProblems,
  ...authProblems,
  ...identityProblems,
  ...notificationProblems,
  ...consentProblems,
  ...mailProblems,
  'installation.recovering': {
    status: 503,
    says: 'The installation is in recovery and does not admit workspaces yet.',
    remedy: 'An operator can run `svc recovery status`, and see docs/runbooks/point-in-time-recovery.md.',
  },
  ...setUpProblems,
  tenant_suspended: {
    status: 403,
    says: 'The workspace is suspended.',
    remedy: 'An operator can resume it: `svc tenants resume SLUG`.',
  },
  ...webhookProblems,
  ...operatorProblems,
  'plan.stale': {
    status: 409,
    params: ['hash'],
    says: 'The plan is outdated; it is now {hash}. Nothing was done.',
    remedy: 'To see what changed, run the same command with --plan.',
  },
  'admin.multi_mode_required': {
    status: 409,
    says: 'The installation runs in single mode.',
    remedy: 'Set SVC_MODE=multi to serve several workspaces.',
  },
  ...tenantProblems,
  ...settingsProblems,
  ...passwordOpeningProblems,
  ...retentionProblems,
  ...privacyProblems,
} as const satisfies Record<string, ProblemRow>

export type ProblemCode = keyof typeof problems
type RowOf<C extends ProblemCode> = (typeof problems)[C]
type ParamsOf<C extends ProblemCode> =
  RowOf<C> extends { params: readonly (infer Name extends string)[] }
    ? [params: Record<Name, ProblemParam>, extra?: Extra]
    : [params?: undefined, extra?: Extra]

type ProblemParam = string | number | bigint | boolean | null

/** One member that breaks its rule: where (`pointer` into the body, or `parameter` of path, query or header) and which rule. */
export interface Violation {
  readonly pointer?: string
  readonly parameter?: string
  readonly code: string
  readonly params: Readonly<Record<string, unknown>>
}

interface Extra {
  readonly errors?: readonly Violation[]
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
}

/** Errors that one problem lists; of more it says that there are. */
export const mostErrors = 20

/** A refusal on its way to the caller. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly params: Readonly<Record<string, ProblemParam>>
  readonly errors: readonly Violation[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ProblemCode, params: Readonly<Record<string, ProblemParam>> = {}, extra: Extra = {}) {
    super(code)
    this.name = 'Problem'
    this.code = code
    this.status = extra.status ?? problems[code].status
    const { errors } = extra
    const isCut = errors !== undefined && errors.length > mostErrors
    this.params = isCut ? { ...params, more: true } : params
    this.errors = isCut ? errors.slice(0, mostErrors) : errors
    this.headers = extra.headers ?? {}
  }

  withHeaders(headers: Readonly<Record<string, string>>): Problem {
    const { status, errors } = this
    return new Problem(this.code, this.params, {
      status,
      headers: { ...this.headers, ...headers },
      ...(errors ? { errors } : {}),
    })
  }
}

/** Refuses; never returns. A code that has parameters does not compile without them. */
export function refuse<C extends ProblemCode>(code: C, ...[params, extra]: ParamsOf<C>): never {
  throw new Problem(code, params, extra)
}

/** Refuses a body for one member: 422 `request.invalid` with a JSON pointer, e.g. `/slug`. */
export function refuseMember(pointer: string, code: string, params: Record<string, unknown> = {}): never {
  throw new Problem('request.invalid', {}, { errors: [{ pointer, code, params }] })
}

/** The problem's wire form (`application/problem+json`). */
export function problemBody(problem: Problem, requestId: string): Record<string, unknown> {
  return {
    type: `urn:problem:svc:${problem.code}`,
    status: problem.status,
    code: problem.code,
    params: problem.params,
    instance: `urn:uuid:${requestId}`,
    ...(problem.errors ? { errors: problem.errors } : {}),
  }
}

/** What `keep_within` of the database says: the quota, its ceiling, and how much was used. */
function overCeiling(detail: string): Problem {
  const [quota = '', limit, used] = detail.split(' ')
  return new Problem('quota.exceeded', { quota, limit: integerOf(limit), used: integerOf(used) })
}

const integerOf = (text = '0') => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))

/** The refusal a database error stands for, or undefined when the failure is ours. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error
  if (!(error instanceof Error)) return undefined
  if (error.name === 'DatabaseUnavailable' || error.name === 'LedgerUnavailable')
    return new Problem('service.unavailable', {}, { headers: { 'retry-after': '1' } })
  const {
    constraint_name: violated,
    code,
    detail,
  } = error as { constraint_name?: string; code?: string; detail?: string }
  if (code === 'SV001') return overCeiling(detail ?? '')
  const rows = Object.entries(problems) as [ProblemCode, ProblemRow][]
  const row = violated && rows.find(([, candidate]) => candidate.constraint === violated)
  if (row) return new Problem(row[0])
  // Data exceptions are the caller's values, whatever schema let them through (database.md: 22xxx → 422).
  return code?.startsWith('22') ? new Problem('request.invalid') : undefined
}
