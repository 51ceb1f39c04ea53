/**
 * The refusals that an operation can meet: those of its `needs`, its headers, its path and its body, those in `refuses`, and
 * those of every call. The OpenAPI document lists them.
 */
import {
  changesWaysIn,
  isServedWithoutFactor,
  type Operation,
  stepUpOf,
  takesSessionOnly,
} from '../core/contract/operation.ts'
import { type ProblemCode, problems } from '../core/contract/problem.ts'

interface Refusal {
  readonly code: ProblemCode
  readonly status: number
}

export function refusalsMetBy(operation: Operation): Refusal[] {
  const { needs } = operation
  const codes: ProblemCode[] = ['request.malformed', 'service.unavailable', 'internal', ...gateRefusals(operation)]
  if (!isServedWithoutFactor(needs)) codes.push('auth.second_factor_demanded')
  if (operation.takes === 'bytes') codes.push('request.media_type', 'request.timeout', 'request.too_large')
  else if (operation.method !== 'GET')
    codes.push('request.too_large', 'request.media_type', 'request.invalid', 'request.timeout')
  if (operation.params) codes.push('not_found')
  if (stepUpOf(needs)) codes.push('auth.step_up_required')
  if (stepUpOf(needs) && !isServedWithoutFactor(needs)) codes.push('admin.operator_on_probation')
  if ('mode' in needs) codes.push('admin.multi_mode_required')
  if (operation.actsOn) codes.push('admin.operator_required', 'auth.role_required')
  if (needs.caller === 'account' && needs.others) codes.push('auth.scope_required')
  if (operation.ifMatch) codes.push('precondition.failed')
  if (operation.idempotent)
    codes.push(
      'idempotency.key_reused',
      'idempotency.in_progress',
      ...(operation.secret ? (['secret.unavailable'] as const) : []),
    )
  codes.push(...(operation.refuses ?? []))
  if (codes.includes('cursor.invalid')) codes.push('gone')
  const met = codes.map((code) => ({ code, status: problems[code].status as number }))
  return countsTowardsRate(operation) ? [...met, { code: 'quota.exceeded', status: 429 }] : met
}

const countsTowardsRate = ({ needs }: Operation) =>
  needs.caller === 'account' || needs.caller === 'workspace' || needs.caller === 'workspace or operator'

const ofAnyAccount = [
  'auth.unauthenticated',
  'installation.recovering',
  'tenant_suspended',
  'workspace.restoring',
] as const
const ofWorkspace = [...ofAnyAccount, 'auth.scope_required', 'auth.role_required'] as const

function gateRefusals({ needs }: Operation): readonly ProblemCode[] {
  switch (needs.caller) {
    case 'anyone':
      return ['request.limited']
    case 'account':
      return [
        ...ofAnyAccount,
        ...(changesWaysIn(needs) ? (['auth.scope_required'] as const) : []),
        ...(takesSessionOnly(needs) ? (['auth.credential_kind'] as const) : []),
      ]
    case 'workspace':
      return ofWorkspace
    case 'workspace or operator':
      return [...ofWorkspace, 'admin.operator_required']
    case 'operator':
      return [
        'auth.unauthenticated',
        'tenant_suspended',
        'workspace.restoring',
        'auth.scope_required',
        'admin.operator_required',
      ]
  }
}
