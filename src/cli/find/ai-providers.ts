/** Offered AI models by the name people give, and the flags that describe one. */
import { Flags } from '@oclif/core'
import {
  aiProviderOperations,
  type OfferedAiModel,
  type OfferedAiModelConfiguration,
} from '../../core/contract/ai/offered.ts'
import type { Caller } from '../call/caller.ts'
import { pick } from './pick.ts'

/** The model of that id or display name. Refuses not_found; fails (usage) where several have the name. */
export async function findModel(caller: Caller, name: string): Promise<OfferedAiModel> {
  const { data } = await caller.call(aiProviderOperations.listAiProviders, {})
  return pick(data, name, { by: (model) => model.display_name, called: 'models' })
}

/** The flags that describe a model; a new model needs most of them. */
export const modelFlags = (required: boolean) => ({
  kind: Flags.string({
    summary: 'The API of the model; noop makes no calls.',
    options: ['noop', 'vendor-compatible', 'local-runtime'],
    required,
  }),
  'base-url': Flags.string({
    summary:
      'The address of the API. vendor-compatible: the URL up to /v1. local-runtime: the URL of the server. A private address needs SVC_EGRESS_ALLOW.',
    helpValue: 'URL',
    required,
  }),
  processor: Flags.string({
    summary: 'The company that processes the data; workspaces see it.',
    helpValue: 'NAME',
    required,
  }),
  jurisdiction: Flags.string({
    summary: 'The jurisdiction of the processor; workspaces see it.',
    options: ['self-hosted', 'eea', 'adequacy', 'third-country'],
    required,
  }),
  'completion-model': Flags.string({ summary: 'The name of the model for completions.', helpValue: 'MODEL' }),
  'embedding-model': Flags.string({ summary: 'The name of the model for embeddings.', helpValue: 'MODEL' }),
  'api-key-file': Flags.string({ summary: 'Read the API key from a file of mode 0600.', helpValue: 'FILE' }),
  'api-key-stdin': Flags.boolean({ summary: 'Read the API key from standard input.', exclusive: ['api-key-file'] }),
  'no-api-key': Flags.boolean({ summary: 'The model has no API key.', exclusive: ['api-key-file', 'api-key-stdin'] }),
})

interface ModelFlags {
  readonly kind?: string | undefined
  readonly 'base-url'?: string | undefined
  readonly processor?: string | undefined
  readonly jurisdiction?: string | undefined
  readonly 'completion-model'?: string | undefined
  readonly 'embedding-model'?: string | undefined
}

/** The configuration that the flags give. An empty model name removes that model. */
export function givenBy(flags: ModelFlags): Partial<OfferedAiModelConfiguration> {
  const given = {
    kind: spelled(flags.kind),
    base_url: flags['base-url'],
    processor: flags.processor,
    jurisdiction: spelled(flags.jurisdiction),
    completion_model: flags['completion-model'] === '' ? null : flags['completion-model'],
    embedding_model: flags['embedding-model'] === '' ? null : flags['embedding-model'],
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** `third-country` as the API spells it. */
const spelled = (flag: string | undefined) => flag?.toUpperCase().replaceAll('-', '_')
