/**
 * The mail that asks the reader of an address to confirm it.
 *
 *    row without a hash ──job──▶ the address is somebody else's ─▶ who has it is told, and no token is made
 *                           └──▶ the token is minted as the mail leaves ──:confirm──▶ the account's
 *
 * The link alone confirms nothing: it takes a session of the account that gets the address, so that nobody who clicks
 * confirms for another. A retry mints the token anew; the link of the mail before it is void.
 * Spec: people 1, Addresses; docs/decisions/0410, 0411.
 */

import { z } from 'zod'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { mintToken } from '../../../kernel/values/token.ts'
import { accountWithAddress } from '../../access/addresses.ts'
import { composeMail, type Notice, type Place, type Recipient } from '../../mail/message.ts'
import { deliver } from '../../mail/transport.ts'
import { lockAccount } from '../token/ending.ts'
import { endConfirmation } from './ending-confirmation.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

const sender: SystemActor = { kind: 'SYSTEM', job: 'send_address_confirmation' }

export const sendAddressConfirmation = defineJob({
  name: 'send_address_confirmation',
  payload: z.object({ tenantId: z.guid(), accountId: z.guid(), confirmationId: z.guid() }),
  // 30 s, then doubled each time up to 2 h: a relay may be unavailable for most of a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 7200,
  // As many connections as a mail relay allows one sender.
  atOnce: 5,
  async run(installation, payload) {
    const made = await installation.transaction(sender, { tenantId: payload.tenantId }, (ctx) =>
      prepareMail(ctx, installation.config, payload),
    )
    if (!made) return
    const { mail } = installation.config
    await deliver(mail, composeMail(made.notice, made.place, made.recipient, mail.from))
  },
})

/** Queues the mail to an address of the account; a link before it is void. Answers until when the new one serves. */
export async function writeConfirmation(
  ctx: Ctx,
  { tenantId, accountId }: Holder,
  address: { readonly id: string; readonly is_primary: boolean; readonly is_asked: boolean },
): Promise<string> {
  const { tx, config } = ctx
  const id = newId()
  void tx`
    update address_confirmation set used_at = now()
    where tenant_id = ${tenantId} and account_id = ${accountId} and address_id = ${address.id} and used_at is null`
  const [[written]] = await Promise.all([
    tx<[{ expires_at: string }]>`
      insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, expires_at)
      select tenant_id, ${id}::uuid, account_id, id, email_fold, ${address.is_primary}::boolean, ${address.is_asked}::boolean, now() + make_interval(hours => ${config.addressHours})
      from account_address where tenant_id = ${tenantId} and id = ${address.id}
      returning expires_at`,
    // One that waits, waits as long as its link serves.
    tx`
      update account_address set ends_at = now() + make_interval(hours => ${config.addressHours})
      where tenant_id = ${tenantId} and id = ${address.id} and not is_primary and confirmed_at is null`,
  ])
  await ctx.enqueue(sendAddressConfirmation, { tenantId, accountId, confirmationId: id })
  await ctx.enqueue(endConfirmation, { tenantId, confirmationId: id }, { startAfter: new Date(written.expires_at) })
  return written.expires_at
}

/** The same for the primary address of an account that joined without its mail having been read. */
export async function askToConfirmPrimary(ctx: Ctx, holder: Holder): Promise<void> {
  const [address] = await ctx.tx<{ id: string }[]>`
    select id from account_address
    where tenant_id = ${holder.tenantId} and account_id = ${holder.accountId} and is_primary and confirmed_at is null`
  if (address) await writeConfirmation(ctx, holder, { id: address.id, is_primary: true, is_asked: false })
}

interface AskedRow extends Place {
  readonly email: string
  readonly asked_at: string
  readonly expires_at: string
  readonly slug: string
  readonly name: string | null
  readonly locale: string | null
  readonly time_zone: string | null
  /** Who has the address; null: nobody. */
  readonly holder_id: string | null
  readonly holder_name: string | null
}

interface Composed {
  readonly notice: Notice
  readonly place: Place
  readonly recipient: Recipient
}

/** Undefined if the account waits for this confirmation no more. */
async function prepareMail(
  ctx: Ctx,
  config: Installation['config'],
  { tenantId, accountId, confirmationId: id }: Holder & { readonly confirmationId: string },
): Promise<Composed | undefined> {
  void lockAccount(ctx, { tenantId, accountId })
  const row = await readAsked(ctx, tenantId, id)
  if (!row) return undefined
  const { email, holder_id, slug } = row
  if (holder_id !== null && holder_id !== accountId) {
    const recipient = { accountId: holder_id, name: row.holder_name, address: email }
    return { notice: { id, name: 'address_taken', at: row.asked_at }, place: row, recipient }
  }
  const { token, hash } = mintToken('addressConfirmation')
  await ctx.tx`update address_confirmation set hash = ${hash} where tenant_id = ${tenantId} and id = ${id}`
  const link = confirmLink(config, slug, token)
  const place = {
    ...row,
    default_locale: row.locale ?? row.default_locale,
    default_time_zone: row.time_zone ?? row.default_time_zone,
  }
  const recipient = { accountId, name: row.name, address: email }
  return { notice: { id, name: 'address_confirm', at: row.expires_at, link }, place, recipient }
}

async function readAsked({ tx }: Ctx, tenantId: string, id: string): Promise<AskedRow | undefined> {
  const [waiting] = await tx<{ email: string }[]>`
    select d.email from address_confirmation c
    join account_address d on d.tenant_id = c.tenant_id and d.id = c.address_id
    where c.tenant_id = ${tenantId} and c.id = ${id}`
  if (!waiting) return undefined
  const [row] = await tx<AskedRow[]>`
    select d.email, c.created_at as asked_at, c.expires_at, t.slug, t.display_name, t.default_locale, t.default_time_zone,
           a.display_name as name, p.locale, p.time_zone, h.id as holder_id, h.display_name as holder_name
    from address_confirmation c
    join account_address d on d.tenant_id = c.tenant_id and d.id = c.address_id and d.removed_at is null
    join account a on a.tenant_id = c.tenant_id and a.id = c.account_id and a.state in ('INVITED', 'ACTIVE')
    join tenant t on t.id = c.tenant_id and t.state = 'ACTIVE'
    left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
    left join account h on h.tenant_id = c.tenant_id and h.id = ${accountWithAddress(tx, tenantId, waiting.email)}
    where c.tenant_id = ${tenantId} and c.id = ${id} and c.used_at is null and c.expires_at > now()`
  return row
}

/** The daemon's own page (daemon/token-pages.ts), with the token after the `#`, which browsers do not send. */
function confirmLink({ publicUrl }: Installation['config'], slug: string, token: string): string {
  const base = publicUrl.replace('{slug}', slug).replace(/\/$/, '')
  return `${base}/confirm-address?workspace=${slug}#${token}`
}
