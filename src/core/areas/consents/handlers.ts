/** The rules of this area, by operation. */
import type { consentOperations } from '../../contract/privacy/consents.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { giveConsent, listConsents, withdrawConsent } from './acts.ts'
import { setConsentText } from './texts.ts'

export const consentsHandlers = {
  listConsents,
  withdrawConsent,
  giveConsent,
  setConsentText,
} satisfies HandlersOf<typeof consentOperations>
