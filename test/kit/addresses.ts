/** A workspace whose accounts ask for addresses, over a real SMTP server, and what its tests say often. */
import { randomUUIDv7 } from 'node:crypto'
import { expect } from 'vitest'
import type { Session } from '../../src/core/contract/auth/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, type Person } from './accounts.ts'
import { password } from './installation.ts'
import { type Mailing, mailing } from './mailing.ts'
import { plantProof } from './proofs.ts'
import { type SmtpRelay, smtpRelay } from './smtp-relay.ts'

const { addAddress, removeAddress, confirmAddress, inviteAccount, redeemInvitation, getOwnAccount, signIn } = operations
export const patience = { timeout: 20_000 }
export const confirms = /^Confirm your address: /
export const changes = /^Addresses changed: /
export const fresh = () => `${randomUUIDv7()}@new.example`

export type Addressing = Awaited<ReturnType<typeof addressing>>

export async function addressing(mailsPerHour: number) {
  const relay: SmtpRelay = await smtpRelay()
  const house: Mailing = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_PUBLIC_URL: 'https://{slug}.work.example',
    SVC_INVITE_MAILS_PER_HOUR: String(mailsPerHour),
  })
  const who: Callers = await callers(house.test)
  const { oracle } = house.test
  const mailsTo = (address: string, subject: RegExp) =>
    relay.takenBy(address).filter(({ mail }) => subject.test(mail.subject ?? ''))
  const as = (person: Person) => who.as(person.session.access_token)
  const proofOf = ({ tenantId, accountId, session }: Person) =>
    plantProof(oracle, { tenantId, accountId, credentialId: session.session_id })

  async function ask(by: Person, email: string, more: { is_primary?: boolean; of?: Person } = {}) {
    const { of = by, ...body } = more
    return as(by).call(addAddress, { accountId: of.accountId, body: { email, ...body }, stepUp: await proofOf(by) })
  }
  const confirm = (by: Person, token: string) => as(by).call(confirmAddress, { body: { token } })

  /** The token of the newest mail that asks to confirm the address. */
  async function tokenFor(email: string, count = 1): Promise<string> {
    await expect.poll(() => mailsTo(email, confirms).length, patience).toBeGreaterThanOrEqual(count)
    const text = mailsTo(email, confirms).at(-1)!.mail.text ?? ''
    const link = /https:\/\/\S+/.exec(text)?.[0] ?? ''
    expect(link).toMatch(/^https:\/\/(\S+)\.work\.example\/confirm-address\?workspace=\1#svcc_/)
    return link.slice(link.indexOf('#') + 1)
  }
  /** Takes the mails before out of the count of a minute and of the hour. */
  const letTimePass = (email: string) => oracle`
    update address_confirmation set created_at = created_at - interval '2 hours' where email_fold = ${email}`

  return {
    who,
    house,
    oracle,
    mailsTo,
    as,
    proofOf,
    ask,
    confirm,
    tokenFor,
    letTimePass,
    workspace: () => joinedWorkspace(house.test),

    /** Somebody who joined by a token that was handed over. */
    async member(of: Person, role: 'ADMIN' | 'MEMBER' = 'MEMBER'): Promise<Person> {
      const email = fresh()
      const body = { email, display_name: 'Mara', role, deliver: 'TOKEN' as const }
      const made = await as(of).call(inviteAccount, { body })
      const session: Session = await who
        .as()
        .call(redeemInvitation, { body: { token: made.redemption_token ?? '', password } })
      return { tenantId: of.tenantId, slug: of.slug, accountId: made.account.id, email, session }
    },
    remove: async (by: Person, addressId: string, of = by) =>
      as(by).call(removeAddress, { accountId: of.accountId, addressId, stepUp: await proofOf(by) }),
    own: (of: Person) => as(of).call(getOwnAccount),
    enter: (of: Person, email: string) => who.as().call(signIn, { body: { workspace: of.slug, email, password } }),
    /** A further confirmed address. */
    async added(by: Person, is_primary = false): Promise<string> {
      const email = fresh()
      await ask(by, email, { is_primary })
      await confirm(by, await tokenFor(email))
      await letTimePass(email)
      return email
    },
    async end() {
      await who.close()
      await house.end()
      await relay.close()
    },
  }
}
