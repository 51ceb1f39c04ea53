/** Addresses of accounts: one is asked for, confirmed by its reader, and removed. Spec: people 1, N6, I4; 4, N20. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { email, moment, text, uuid } from '../vocabulary.ts'

/** Addresses that an account has or waits for. */
export const mostAddresses = 5

export const AccountAddress = z
  .object({
    id: uuid,
    email: z.string(),
    is_primary: z.boolean().describe('whether mail goes to it'),
    confirmed_at: moment.nullable().describe('null: nobody has shown yet that mail to it is read'),
  })
  .meta({ id: 'AccountAddress' })
export type AccountAddress = z.output<typeof AccountAddress>

export const accountAddresses = z
  .array(AccountAddress)
  .describe('the primary one first, then the oldest; also those that wait to be confirmed')

const AddressAsked = z
  .object({
    email: z.string(),
    address: AccountAddress.nullable().describe('null: it waits to be confirmed'),
    confirmation_expires_at: moment
      .nullable()
      .describe('until when the link of the mail serves; null: the address is confirmed, and nothing was mailed'),
  })
  .meta({ id: 'AddressAsked' })
export type AddressAsked = z.output<typeof AddressAsked>

const onAccount = {
  needs: { caller: 'account', changes: 'ways in', stepUp: 'or elevated', others: 'ADMIN' },
  actsOn: 'account',
} as const

export const addressOperations = defineOperations('identity', {
  addAddress: {
    method: 'POST',
    path: '/accounts/{accountId}:add-address',
    summary: 'Ask for an address of the account: it is mailed a link, and is added once that is confirmed',
    spec: 'people 1, N6',
    params: z.strictObject({ accountId: uuid }),
    body: z
      .strictObject({
        email,
        is_primary: z.boolean().default(false).describe('whether mail goes to it from then on'),
      })
      .meta({ id: 'AddressAdd' }),
    success: { status: 200, answer: AddressAsked },
    ...onAccount,
    refuses: ['account.addresses_full', 'account.disabled', 'mail.limited'],
    recovery: { refused: 'at the database an account gets a start password' },
    assumed: [
      'a free and a taken address answer alike, at the same cost: whose it is, is looked up as the mail leaves, and who has it is told',
      'of an own confirmed address `is_primary` moves the primary one at once; the own unconfirmed one is mailed its link again',
      'an address gets one such mail a minute and five an hour, a workspace as many an hour as invitations',
      'one that waits counts among the five, and is removed like the others',
    ],
  },
  removeAddress: {
    method: 'DELETE',
    path: '/accounts/{accountId}/addresses/{addressId}',
    summary: 'Take an address from the account; it is told, and signs in no more',
    spec: 'people 1, I4',
    params: z.strictObject({ accountId: uuid, addressId: uuid }),
    success: { status: 204 },
    ...onAccount,
    refuses: ['account.address_primary'],
    recovery: { refused: 'at the database an account gets a start password' },
    assumed: ['the primary address stays, so the last one does; another is made the primary one first'],
  },
})

export const confirmationOperations = defineOperations('auth', {
  confirmAddress: {
    method: 'POST',
    path: '/auth/address:confirm',
    summary: 'Confirm an address of the own account with the token of the mail',
    spec: 'people 4, N20',
    body: z.strictObject({ token: text(1, 200) }).meta({ id: 'AddressConfirm' }),
    success: { status: 200, answer: AccountAddress },
    needs: { caller: 'account', changes: 'ways in', credential: 'session' },
    refuses: ['auth.confirmation_invalid', 'account.address_taken'],
    recovery: { refused: 'whoever reads the mail does this, not the operator' },
    assumed: [
      'it takes a session of the account that gets the address, whoever asked; another account is answered as with an unknown link',
      'the first address of an account becomes the primary one',
    ],
  },
})
