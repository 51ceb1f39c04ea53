/** Events of consents and of restrictions. Spec: Keeping, 2. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { consentStates } from '../privacy/consents.ts'
import { restrictionGrounds } from '../privacy/restriction.ts'
import { uuid } from '../vocabulary.ts'

const ofAccount = { subject: '/accounts/{id}', kind: 'account', container: null } as const

export const consentEvents = defineEvents({
  'work.consent.changed': {
    when: 'somebody gave or withdrew a consent, or objected',
    subject: '/accounts/{account_id}',
    kind: 'account',
    container: null,
    data: z.object({
      account_id: uuid,
      kind: z.string().describe('what it is about'),
      state: z.enum(consentStates).describe('how it is now'),
      version: z.int().describe('of the text'),
    }),
    example: { account_id: exampleId(3), kind: 'announcements', state: 'GIVEN', version: 2 },
  },
  'identity.account.restricted': {
    when: 'an account was restricted: it may only be stored',
    ...ofAccount,
    data: z.object({ id: uuid, ground: z.enum(restrictionGrounds).describe('why') }),
    example: { id: exampleId(3), ground: 'ACCURACY' },
    notifies: { tells: [{ category: 'SECURITY', whom: ['id'] }] },
  },
  'identity.account.unrestricted': {
    when: 'the restriction of an account ended',
    ...ofAccount,
    data: z.object({ id: uuid }),
    example: { id: exampleId(3) },
    notifies: { tells: [{ category: 'SECURITY', whom: ['id'], hasOwnMail: true }] },
  },
})
