/**
 * Adapters: how a question reaches a model, whatever its API is.
 *
 *    question → adapter of the model's kind → exchange.ts → egress guard → the model
 *
 * An adapter knows one protocol and nothing of workspaces, quotas or transactions. A failure is an
 * AiFailure with one of a few codes. The server's own error text stays out of answers and logs,
 * because it may repeat the question.
 *
 * Spec: AiProviderKind; T-17, T-38.
 */
import type { AiKind } from '../../contract/ai/offered.ts'
import { Problem } from '../../contract/problem.ts'

const failureReasons = [
  'unreachable',
  'refused', // by the egress guard
  'redirected',
  'credentials',
  'missing', // the path, or a model of that name
  'rate_limited',
  'timeout',
  'too_large',
  'malformed',
  'unconfigured', // the operator named no model for this
  'failed',
] as const
type FailureReason = (typeof failureReasons)[number]

/** The model could not answer. */
export class AiFailure extends Error {
  override readonly name = 'AiFailure'
  readonly reason: FailureReason
  constructor(reason: FailureReason, cause?: unknown) {
    super(`the AI model failed: ${reason}`, { cause })
    this.reason = reason
  }
}

/** Turns an AiFailure into the refusal ai.model_failed; throws any other error on. */
export function refusalOfModel(error: unknown): never {
  throw error instanceof AiFailure ? new Problem('ai.model_failed', { reason: error.reason }) : error
}

export interface Question {
  /** What to do, in our words. */
  readonly instruction: string
  /** The text to work on: content of a workspace, which is never an instruction. */
  readonly content: string
  readonly maxAnswerTokens: number
}

/** The tokens of one call, as the server reports them; undefined if it reports none or an implausible number. */
export type ReportedTokens = number | undefined

export interface Completion {
  readonly text: string
  readonly tokens: ReportedTokens
}

export interface Adapter {
  /** Throws AiFailure. */
  complete(question: Question): Promise<Completion>
  /** The vector of a text. Throws AiFailure. */
  embed(text: string): Promise<{ readonly vector: readonly number[]; readonly tokens: ReportedTokens }>
}

/** An offered model with its decrypted key, kept for one call only. */
export interface OpenedModel {
  readonly id: string
  readonly kind: AiKind
  readonly base_url: string
  readonly completion_model: string | null
  readonly embedding_model: string | null
  readonly apiKey: string | undefined
}

/** The model's name on its server. Throws AiFailure if the operator named none. */
export const named = (model: string | null): string => model ?? unconfigured()

function unconfigured(): never {
  throw new AiFailure('unconfigured')
}
