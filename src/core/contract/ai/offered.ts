/** AI models that the installation offers to every workspace. Spec: Admin: AI models; decisions 4, OfferedAiModel. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { jurisdictions } from '../settings/operations.ts'
import { listOf, moment, text, uri, uuid, version } from '../vocabulary.ts'

const aiKinds = ['NOOP', 'VENDOR_COMPATIBLE', 'LOCAL_RUNTIME'] as const
export type AiKind = (typeof aiKinds)[number]

export const jurisdiction = z.enum(jurisdictions)

const OfferedAiModelConfiguration = z
  .strictObject({
    display_name: text(1, 200).describe('the name workspaces choose it by'),
    processor: text(1, 200).describe('who processes what is sent, as the operator declares'),
    kind: z.enum(aiKinds).describe('which adapter answers'),
    base_url: uri(2000).describe('VENDOR_COMPATIBLE: up to /v1; LOCAL_RUNTIME: the server; NOOP calls nobody'),
    completion_model: text(1, 200).nullish(),
    embedding_model: text(1, 200).nullish(),
    // It becomes a header's value.
    api_key: z
      .string()
      .regex(/^[!-~]{0,2000}$/)
      .optional()
      .describe('sealed, and never answered; empty clears it, absent keeps it'),
    jurisdiction: jurisdiction.describe('as declared by the operator'),
  })
  .meta({ id: 'OfferedAiModelConfiguration' })
export type OfferedAiModelConfiguration = z.output<typeof OfferedAiModelConfiguration>

const OfferedAiModel = z
  .object({
    id: uuid,
    display_name: z.string(),
    processor: z.string(),
    kind: z.enum(aiKinds),
    base_url: z.string(),
    completion_model: z.string().nullable(),
    embedding_model: z.string().nullable(),
    jurisdiction,
    has_api_key: z.boolean(),
    workspaces_on: z.int().describe('workspaces that switched it on'),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'OfferedAiModel' })
export type OfferedAiModel = z.output<typeof OfferedAiModel>

const AiProbeStep = z
  .object({
    name: z.enum(['complete', 'embed']),
    ok: z.boolean(),
    error: z.string().nullable().describe('a code'),
  })
  .meta({ id: 'AiProbeStep' })
export type AiProbeStep = z.output<typeof AiProbeStep>

const params = z.strictObject({ providerId: uuid })
const needs = { caller: 'operator' } as const

export const aiProviderOperations = defineOperations('admin', {
  listAiProviders: {
    method: 'GET',
    path: '/admin/ai-providers',
    summary: 'The AI models offered, oldest first, without their keys',
    spec: 'Admin: AI models',
    success: { status: 200, answer: listOf(OfferedAiModel) },
    needs,
    recovery: 'allowed',
    assumed: ['at most 1,000'],
  },
  offerAiProvider: {
    method: 'POST',
    path: '/admin/ai-providers',
    summary: 'Offer an AI model to every workspace',
    spec: 'Admin: AI models; decisions 4; 5, Egress guard',
    body: OfferedAiModelConfiguration,
    success: { status: 201, answer: OfferedAiModel, location: () => '/admin/ai-providers' },
    needs,
    refuses: ['egress.forbidden', 'ai.third_country_not_confirmed'],
    idempotent: true,
    recovery: 'allowed',
    assumed: [
      'the base URL is checked by the guard before anything is stored, for every kind, and again at every call',
      'which jurisdictions the installation allows is asked at every call, not when a model is offered',
    ],
  },
  replaceAiProvider: {
    method: 'PUT',
    path: '/admin/ai-providers/{providerId}',
    summary: "Set an offered AI model's configuration whole; an absent key keeps the sealed one",
    spec: 'Admin: AI models',
    params,
    body: OfferedAiModelConfiguration,
    success: { status: 200, answer: OfferedAiModel },
    needs,
    refuses: ['egress.forbidden', 'ai.third_country_not_confirmed'],
    ifMatch: true,
    recovery: 'allowed',
    assumed: ['the same configuration again, without a key, changes nothing and keeps the version'],
  },
  removeAiProvider: {
    method: 'DELETE',
    path: '/admin/ai-providers/{providerId}',
    summary: 'Remove an offered AI model and its key; workspaces that chose it get no answer until they choose again',
    spec: 'Admin: AI models',
    params,
    success: { status: 204 },
    needs,
    ifMatch: true,
    recovery: 'allowed',
  },
  testAiProvider: {
    method: 'POST',
    path: '/admin/ai-providers/{providerId}:test',
    summary: 'Ask an offered AI model something small, and say what fails',
    spec: 'ours: what svc ai-providers test does',
    params,
    success: { status: 200, answer: z.object({ ok: z.boolean(), steps: z.array(AiProbeStep) }) },
    needs,
    refuses: ['secret.unavailable'],
    recovery: 'allowed',
    assumed: [
      "a step for each of completion_model and embedding_model; the tokens are no workspace's and count nowhere",
      'errors are codes: unreachable, refused, redirected, credentials, missing, rate_limited, timeout, too_large, malformed, unconfigured, failed',
    ],
  },
})
