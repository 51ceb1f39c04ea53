/** What the sweep removes, and when. Each has an index that begins with its `since`. Spec: decisions 1, 2. */
import type { Sweep } from '../../../kernel/transaction/sweep.ts'

export const sweeps: readonly Sweep[] = [
  {
    // A used refresh token is kept until it expires: its second use reveals a stolen one. None is kept longer: a clock that
    // falls back would bring it back.
    table: 'credential',
    since: 'expires_at',
    after: '0',
    // A session goes with its last token.
    with: [
      `delete from session s using (select distinct tenant_id, session_id as id from gone where session_id is not null) g
       where s.tenant_id = g.tenant_id and s.id = g.id and not exists (
         select from credential c where c.tenant_id = s.tenant_id and c.session_id = s.id
         and not exists (select from gone where gone.tenant_id = c.tenant_id and gone.id = c.id))`,
    ],
  },
  { table: 'step_up', since: 'expires_at', after: '1 day' },
  {
    // Enrolments that were not confirmed within 15 minutes.
    table: 'second_factor',
    since: 'created_at',
    after: '1 hour',
    only: 'confirmed_at is null',
    with: [sealedOf('mfa.totp')],
  },
  { table: 'failed_attempt', since: 'at', after: '1 day' },
  { table: 'failed_sign_in', since: 'at', after: '1 day' },
  { table: 'password_reset', since: 'expires_at', after: '1 day' },
  { table: 'address_confirmation', since: 'expires_at', after: '1 day' },
  { table: 'account_address', since: 'ends_at', after: '1 day' },
  { table: 'sign_in_link', since: 'expires_at', after: '1 day' },
  { table: 'sign_in_challenge', since: 'expires_at', after: '1 day' },
  { table: 'sign_in_flow', since: 'expires_at', after: '0' },
  { table: 'invitation', since: 'expires_at', after: '0', only: 'used_at is not null' },
  {
    // The record before its sealed answer, as in a call that uses an expired key again.
    table: 'idempotency_record',
    since: 'created_at',
    after: '24 hours',
    with: [sealedOf('idempotency.answer')],
  },
  { table: 'blocked_slug', since: 'until', after: '0' },
]

function sealedOf(kind: 'mfa.totp' | 'idempotency.answer'): string {
  return `delete from sealed_value s using gone g where s.tenant_id = g.tenant_id and s.kind = '${kind}' and s.owner_id = g.id`
}
