/** Events of requests about personal data: ids, kinds and states, never a person. Spec: Keeping, 2. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { uuid } from '../vocabulary.ts'
import { kind, state } from './requests.ts'

const ofRequest = {
  subject: '/privacy/requests/{id}',
  kind: 'privacy_request',
  container: null,
  data: z.object({ id: uuid, kind, state }),
} as const

export const privacyEvents = defineEvents({
  'work.privacy_request.received': {
    when: 'a request about personal data came in',
    ...ofRequest,
    example: { id: exampleId(40), kind: 'ACCESS', state: 'RECEIVED' },
  },
  'work.privacy_request.decided': {
    when: 'a request about personal data was granted or refused',
    ...ofRequest,
    example: { id: exampleId(40), kind: 'ACCESS', state: 'GRANTED' },
  },
  'work.privacy_request.closed': {
    when: 'a request about personal data was done, or withdrawn',
    ...ofRequest,
    example: { id: exampleId(40), kind: 'ACCESS', state: 'DONE' },
  },
  'work.account.erased': {
    when: 'the person of an account is forgotten; whoever keeps a copy of what the account said erases it, too',
    subject: '/accounts/{id}',
    kind: 'account',
    container: null,
    data: z.object({ id: uuid }),
    example: { id: exampleId(3) },
  },
})
