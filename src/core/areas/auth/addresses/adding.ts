/**
 * An account asks for an address.
 *
 *    own and confirmed ─▶ nothing, or it becomes the primary one
 *    any other ─────────▶ it waits, and a mail is on its way (confirmation-mail.ts) ──confirmed (confirming.ts)──▶ the account's
 *
 * Whether somebody else has the address, this call neither reads nor says: the job looks as the mail leaves. So a free
 * and a taken one get one answer at one cost. Each mail is a row of `address_confirmation`, by which mails are counted.
 * Spec: people 1, N6; docs/decisions/0410, 0411.
 */

import type { AccountState } from '../../../contract/identity/accounts.ts'
import type { AccountAddress, AddressAsked, addressOperations as ops } from '../../../contract/identity/addresses.ts'
import { mostAddresses } from '../../../contract/identity/addresses.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'
import { completeAddresses, lockAddress } from '../../access/addresses.ts'
import { lockAccount } from '../token/ending.ts'
import { movePrimary } from './changing.ts'
import { writeConfirmation } from './confirmation-mail.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

/** Refuses not_found, account.disabled, account.addresses_full, mail.limited. */
export async function addAddress(
  ctx: Ctx,
  { accountId, body }: Received<typeof ops.addAddress>,
): Promise<AddressAsked> {
  const holder = { tenantId: ctx.account.tenantId, accountId }
  await lockAddress(ctx, holder.tenantId, body.email)
  await lockPerson(ctx, holder)
  void completeAddresses(ctx, holder)
  const { own, count } = await readOwn(ctx, holder, body.email)
  if (own?.confirmed_at != null) {
    const moves = body.is_primary && !own.is_primary
    const address = moves ? await movePrimary(ctx, holder, own.id) : own
    return { email: address.email, address, confirmation_expires_at: null }
  }

  if (!own && count >= mostAddresses) refuse('account.addresses_full', { limit: mostAddresses })
  await demandMail(ctx, holder.tenantId, body.email)
  const address = own ? own.id : await writeWaiting(ctx, holder, body.email)
  await ctx.record('identity.account.address_asked', { id: accountId, address_id: address })
  const expiresAt = await writeConfirmation(ctx, holder, { id: address, is_primary: body.is_primary, is_asked: true })
  return { email: own?.email ?? body.email, address: null, confirmation_expires_at: expiresAt }
}

/** Refuses not_found: a service account has no address. Refuses account.disabled. */
async function lockPerson(ctx: Ctx, holder: Holder): Promise<void> {
  void lockAccount(ctx, holder)
  const [row] = await ctx.tx<{ state: AccountState }[]>`
    select state from account
    where tenant_id = ${holder.tenantId} and id = ${holder.accountId} and kind = 'PERSON' and state <> 'ERASED'`
  if (!row) refuse('not_found')
  if (row.state === 'DISABLED') refuse('account.disabled')
}

async function readOwn(
  { tx }: Ctx,
  { tenantId, accountId }: Holder,
  email: string,
): Promise<{ own: AccountAddress | undefined; count: number }> {
  const rows = await tx<(AccountAddress & { is_it: boolean })[]>`
    select id, email, is_primary, confirmed_at, email_fold = ${caseFold(email)} as is_it from account_address
    where tenant_id = ${tenantId} and account_id = ${accountId} and removed_at is null
      and (is_primary or confirmed_at is not null or ends_at > now())`
  return { own: rows.find(({ is_it }) => is_it), count: rows.length }
}

async function writeWaiting({ tx }: Ctx, { tenantId, accountId }: Holder, email: string): Promise<string> {
  const id = newId()
  await tx`
    insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
    values (${tenantId}, ${id}, ${accountId}, ${email}, ${caseFold(email)}, now() + interval '1 day')`
  return id
}

const hourSeconds = 3600
const ofAddress = { perHour: 5, minuteSeconds: 60 }

interface Sent {
  readonly of_address: number
  readonly first_wait: number | null
  readonly last_wait: number | null
  readonly of_workspace: number
  readonly workspace_wait: number | null
}

/** Takes the mail out of what an address and the workspace may be mailed; the address's lock is held. Refuses mail.limited. */
async function demandMail(ctx: Ctx, tenantId: string, email: string): Promise<void> {
  const most = ctx.config.inviteMailsPerHour
  const [sent] = await ctx.tx<[Sent]>`
    select a.*, w.* from (
      select count(*)::int as of_address, date_part('epoch', min(created_at) + interval '1 hour' - now()) as first_wait,
             date_part('epoch', max(created_at) + interval '1 minute' - now()) as last_wait
      from (select created_at from address_confirmation
            where tenant_id = ${tenantId} and email_fold = ${caseFold(email)} and created_at > now() - interval '1 hour'
            order by created_at desc limit ${ofAddress.perHour}) s) a,
    (select count(*)::int as of_workspace, date_part('epoch', min(created_at) + interval '1 hour' - now()) as workspace_wait
     from (select created_at from address_confirmation
           where tenant_id = ${tenantId} and is_asked and created_at > now() - interval '1 hour' order by created_at desc limit ${most}) s) w`
  if (sent.of_workspace >= most) refuseMail(most, hourSeconds, sent.workspace_wait)
  if (sent.of_address >= ofAddress.perHour) refuseMail(ofAddress.perHour, hourSeconds, sent.first_wait)
  if ((sent.last_wait ?? 0) > 0) refuseMail(1, ofAddress.minuteSeconds, sent.last_wait)
}

function refuseMail(limit: number, seconds: number, wait: number | null): never {
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(wait ?? 0))) }
  refuse('mail.limited', { limit, window_seconds: seconds }, { headers })
}
