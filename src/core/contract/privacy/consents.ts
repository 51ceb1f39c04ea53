/** Consents, with their texts and their proof. Spec: Keeping, 2 (N7–N9, K3). */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { listOf, moment, patterned, text, version } from '../vocabulary.ts'

/** The kinds of the product; of `ai_content` people are asked nothing, and may object. */
export const productKinds = ['announcements', 'statistics', 'ai_content'] as const
/** What a workspace tells of its AI model is kept as a text, too, and is no consent (ai-objection.ts). */
export const noticeKind = 'ai_notice'
/** Kinds of its own that a workspace has at most. */
export const mostOwnKinds = 20
export const mostLanguages = 40

export const kindShape = /^[a-z][a-z0-9_]{0,49}$/
const kind = patterned(kindShape).describe(
  'what it is about: `announcements`, `statistics`, `ai_content`, or a kind of the workspace',
)
const textVersion = z.int().min(0).describe('of the text; 0: the workspace has written none')
export const consentStates = ['NONE', 'GIVEN', 'WITHDRAWN', 'LAPSED'] as const
const state = z
  .enum(consentStates)
  .describe('LAPSED: it was given, and a text that renews has come since. WITHDRAWN of an OBJECTION: objected to')

export const Consent = z
  .object({
    kind,
    basis: z
      .enum(['CONSENT', 'OBJECTION'])
      .describe('CONSENT: not allowed until it is given. OBJECTION: allowed until it is withdrawn'),
    version: textVersion,
    language: z.string().nullable().describe('the language of the text; null: there is none'),
    title: z.string().nullable(),
    text: z.string().nullable().describe('what is agreed to; null: the workspace has written nothing'),
    sha256: z.string().nullable().describe('SHA-256 of the title, two line feeds and the text, in hex'),
    state,
    given_version: z.int().min(0).nullable().describe('the version that was agreed to last; null: none'),
    at: moment.nullable().describe('when it was last given or withdrawn; null: never'),
  })
  .meta({ id: 'Consent' })
export type Consent = z.output<typeof Consent>

const language = patterned(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/)
const ConsentTexts = z.record(
  language,
  z.strictObject({ title: text(1, 200), text: text(1, 20_000).describe('what people are asked to agree to') }),
)
export type ConsentTexts = z.output<typeof ConsentTexts>

const ConsentText = z
  .object({
    kind,
    version,
    texts: ConsentTexts.describe('by language'),
    version_at: moment.describe('when this version was written'),
    given: z.int().min(0).describe('accounts of which it is given now'),
    withdrawn: z.int().min(0).describe('accounts that have withdrawn it, or object'),
  })
  .meta({ id: 'ConsentText' })
export type ConsentText = z.output<typeof ConsentText>

const own = { refused: 'what people agree to, they say themselves' } as const
const needs = { caller: 'account' } as const

export const consentOperations = defineOperations('privacy', {
  listConsents: {
    method: 'GET',
    path: '/privacy/consents',
    summary: 'What the own account may agree to, and what it has',
    spec: 'Keeping, 2, N7',
    success: { status: 200, answer: listOf(Consent) },
    needs,
    recovery: own,
    assumed: [
      'the kinds of the product first, then those of the workspace by name',
      "texts in the account's language, else in the workspace's, else in the first one by name",
    ],
  },
  withdrawConsent: {
    method: 'POST',
    path: '/privacy/consents:withdraw',
    summary: 'Withdraw a consent, or object',
    spec: 'Keeping, 2, N8',
    body: z.strictObject({ kind }).meta({ id: 'ConsentWithdrawal' }),
    success: { status: 200, answer: Consent },
    needs,
    refuses: ['privacy.person_only'],
    recovery: own,
    assumed: ['again changes nothing; a kind that nobody wrote a text of can be withdrawn, too'],
  },
  giveConsent: {
    method: 'POST',
    path: '/privacy/consents:give',
    summary: 'Agree to a text, or take an objection back',
    spec: 'Keeping, 2, N9',
    body: z.strictObject({ kind, version: textVersion }).meta({ id: 'ConsentGiving' }),
    success: { status: 200, answer: Consent },
    needs,
    refuses: ['privacy.person_only', 'privacy.text_changed'],
    recovery: own,
    assumed: ['again changes nothing', 'a CONSENT without a text cannot be given: there is nothing to agree to'],
  },
  setConsentText: {
    method: 'PUT',
    path: '/privacy/consent-texts/{kind}',
    summary: 'Write what people are asked to agree to',
    spec: 'Keeping, 2, K3',
    params: z.strictObject({ kind: text(1, 50).describe('what it is about') }),
    body: z
      .strictObject({
        texts: ConsentTexts.describe('by language; at most 40'),
        renews: z.boolean().default(false).describe('whether what was given before has to be given again'),
      })
      .meta({ id: 'ConsentTextSet' }),
    takes: 'large',
    success: { status: 200, answer: ConsentText },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'OWNER' },
    refuses: ['structure.full'],
    ifMatch: true,
    recovery: { refused: "what people are asked is the workspace's own affair" },
    assumed: [
      'the same texts again are no new version, unless they renew',
      'an objection is no consent, and does not lapse',
      'a name that no kind can have is not_found, and so is `ai_notice`: what is told of the AI model follows the model',
    ],
  },
})
