/** Managed accounts: people without an address, and their start passwords. Spec: people 1, N3 and N5. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, patterned, text, uuid } from '../vocabulary.ts'
import { Account, firstRoles, ofDirectory } from './accounts.ts'

const signInName = patterned(/^[a-z0-9][a-z0-9._-]{1,63}$/)
const startPassword = z
  .string()
  .describe('shown this one time; it opens no session, and is replaced at the first sign-in')
const expires = moment.describe('until when the start password serves')

const ManagedAccountCreate = z
  .strictObject({
    sign_in_name: signInName.describe('what the person signs in with, in the place of an address'),
    display_name: text(1, 200),
    ...firstRoles,
    external_id: text(1, 200).optional().describe(ofDirectory),
  })
  .meta({ id: 'ManagedAccountCreate' })

const administrators = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const

export const managedOperations = defineOperations('identity', {
  createManagedAccount: {
    method: 'POST',
    path: '/accounts:create-managed',
    summary: 'Create an account for somebody without an address, with a start password to hand over',
    spec: 'people 1, N3',
    body: ManagedAccountCreate,
    success: {
      status: 201,
      answer: z
        .object({ account: Account, start_password: startPassword, expires_at: expires })
        .meta({ id: 'ManagedAccount' }),
      location: ({ account }: { account: { id: string } }) => `/accounts/${account.id}`,
    },
    needs: administrators,
    refuses: [
      'account.name_taken',
      'account.managed_disabled',
      'auth.password_disabled',
      'group.bound',
      'structure.full',
    ],
    idempotent: true,
    secret: true,
    recovery: { refused: "who belongs to a workspace is the workspace's own business" },
    assumed: [
      'roles and groups as of an invitation',
      'a start password is answered with auth.password_expired {because: START}; POST /auth/sessions:set-password replaces it, and the account is ACTIVE then',
    ],
  },
  issueStartPassword: {
    method: 'POST',
    path: '/accounts/{accountId}:issue-start-password',
    summary: 'Give a managed account another start password; its password, sessions and tokens end with this call',
    spec: 'people 1, N5',
    params: z.strictObject({ accountId: uuid }),
    success: {
      status: 200,
      answer: z
        .object({
          account_id: uuid,
          sign_in_name: z.string().describe('what the person signs in with'),
          start_password: startPassword,
          expires_at: expires,
        })
        .meta({ id: 'StartPassword' }),
    },
    needs: { ...administrators, stepUp: 'or elevated' },
    actsOn: 'account',
    refuses: ['account.has_address', 'account.disabled'],
    idempotent: true,
    secret: true,
    recovery: 'allowed',
    assumed: [
      'the second factor stays; failed sign-ins of the name are forgotten',
      'at the database an account with an address gets one, too, and signs in with that address',
    ],
  },
})
