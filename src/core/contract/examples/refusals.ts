/**
 * An example of each refusal. Those of refusals.json were received from a daemon (test/contract/refusals.test.ts); parameters of
 * a refusal that its story does not reach are declared here; one without parameters is all told by its row. Only the
 * document loads them.
 */
import { type ProblemCode, problems } from '../problem.ts'
import received from './refusals.json' with { type: 'json' }

export interface RefusalExample {
  readonly status: number
  readonly params: Readonly<Record<string, unknown>>
  readonly errors?: readonly unknown[]
}

type Params = RefusalExample['params']
const hold = '01954fd0-8010-7000-8000-000000000016'
const account = '01954fd0-8006-7000-8000-000000000006'

/** Of the form of a token, and valid nowhere. */
const secret = (prefix: string) => `${prefix}_${'ExampleOnlyNeverValid'.padEnd(49, '0')}`

/** A code with parameters is either here or received; a test compares both with the schemas of the parameters. */
export const declaredParams = {
  'request.limited': { limit: 60, window_seconds: 60 },
  'backup.target_failed': { reason: 'unreachable' },
  'archive.invalid': { reason: 'checksum' },
  'backup.kept': { reason: 'HOLD' },
  'backup.state': { state: 'RUNNING' },
  'restore.underway': { restore_id: '01954fd0-8009-7000-8000-000000000010' },
  'restore.state': { state: 'APPLYING' },
  'ai.model_failed': { reason: 'timeout' },
  'ai.notice_due': { version: 2 },
  'privacy.text_changed': { version: 2 },
  'group.in_use': { provider_ids: '01954fd0-8009-7000-8000-000000000009' },
  'query.too_broad': { limit: 100_000 },
  'item.children_open': { count: 2 },
  'item.tree_full': { bound: 'CHILDREN', limit: 1_000 },
  'mention.no_access': { account_id: account },
  'media.range': { size_bytes: 12 },
  'media.in_use': { count: 2 },
  'structure.full': { limit: 500 },
  'identity_provider.many': { count: 2 },
  'identity_provider.discovery_failed': { reason: 'unreachable' },
  'identity_provider.kind_mismatch': { kind: 'GENERIC' },
  'identity_provider.withdraw_first': { workspace_count: 3 },
  'identity_provider.remove_after_withdrawal': { withdraw_at: '2027-03-15T09:00:00.000Z' },
  'identity_provider.withdraw_count_mismatch': { expected: 3 },
  'auth.credential_kind': { accepted: 'SESSION' },
  'auth.not_admitted': { link_token: secret('svcl') },
  'auth.second_factor_required': { challenge_token: secret('svch'), challenge_expires_at: '2027-03-01T09:05:00.000Z' },
  'auth.password_expired': { because: 'AGE' },
  'account.addresses_full': { limit: 5 },
  'account.identities_full': { limit: 10 },
  'privacy.request_open': { request_id: '01954fd0-8040-7000-8000-000000000040' },
  'privacy.closed': { state: 'WITHDRAWN' },
  'privacy.too_late': { due_at: '2027-04-01T23:59:59.999Z' },
  'notification.locked': { category: 'SECURITY' },
  'auth.blocklist_unusable': { reason: 'ENOENT' },
  'legal.terms_changed': { terms_version: '2027-01' },
  'mail.limited': { limit: 1, window_seconds: 60 },
  'admin.operator_on_probation': { until: '2027-03-02T09:00:00.000Z' },
  'admin.settings_enforced': { source: '/etc/svc/settings.yaml' },
  'retention.hold_differs': { hold_id: hold },
  'retention.hold_elsewhere': { hold_id: hold },
} as const satisfies Partial<Record<ProblemCode, Params>>

/** The refusal as a caller gets it. */
export function refusalExample(code: ProblemCode): RefusalExample {
  const kept = (received as Partial<Record<string, RefusalExample>>)[code]
  return (
    kept ?? { status: problems[code].status, params: (declaredParams as Partial<Record<string, Params>>)[code] ?? {} }
  )
}
