/** The restriction of an account: stored, no more. Spec: Keeping, 2, N6. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, uuid, version } from '../vocabulary.ts'

export const restrictionGrounds = ['ACCURACY', 'UNLAWFUL', 'CLAIMS', 'OBJECTION'] as const
export type RestrictionGround = (typeof restrictionGrounds)[number]
const ground = z
  .enum(restrictionGrounds)
  .describe(
    'ACCURACY: it is in dispute whether it is right. UNLAWFUL: instead of an erasure. CLAIMS: the person needs it for legal claims. OBJECTION: while it is examined',
  )

export const AccountRestriction = z
  .object({
    account_id: uuid,
    is_restricted: z.boolean().describe('whether the account may only be stored'),
    ground: ground.nullable().describe('why; null: it is not restricted'),
    since: moment.nullable().describe('since when; null: it is not restricted'),
    by: uuid
      .nullable()
      .describe('the account that restricted it; null: none of the workspace, or it is not restricted'),
    version: version.describe('of the account'),
  })
  .meta({ id: 'AccountRestriction' })
export type AccountRestriction = z.output<typeof AccountRestriction>

export const restrictionOperations = defineOperations('privacy', {
  setAccountRestriction: {
    method: 'POST',
    path: '/accounts/{accountId}:restrict',
    summary: 'Restrict what is done with the account of a person to storing it, or end that',
    spec: 'Keeping, 2, N6',
    params: z.strictObject({ accountId: uuid }),
    body: z
      .strictObject({
        restricted: z.boolean().describe('false: the restriction ends, and the person is told by mail'),
        ground: ground.optional().describe('why; required with `restricted`, and refused without'),
        request_id: uuid.optional().describe('the request that asked for it'),
      })
      .meta({ id: 'AccountRestrictionSet' }),
    success: { status: 200, answer: AccountRestriction },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' },
    actsOn: 'account',
    refuses: ['privacy.person_only'],
    ifMatch: true,
    recovery: { refused: 'requests of its people are the affair of the workspace' },
    assumed: [
      'others read no name and no address of a restricted account, only that it is one; it is found by neither, and nobody assigns or mentions it newly',
      'it signs in and works: what its person does is consent. Mail of its sign-in and of privacy goes on',
      'restricting anew with the same ground changes nothing, with another one it says so from now on',
    ],
  },
})
