/**
 * Adapters: how a question reaches a model, whatever its API is.
 *
 *    question → adapter of the model's kind → exchange.ts → egress guard → the model
 *
 * An adapter knows one protocol and nothing of workspaces, quotas or transactions. What
 * fails is an AiFailure with one of a few codes; what the other side said is kept out of
 * answers and logs, because it may repeat what it was asked.
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
  'unconfigured', // it has no model for this
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

/** The refusal that a failed model is to whoever asked it; anything else is thrown on. */
export function refusalOfModel(error: unknown): never {
  throw error instanceof AiFailure ? new Problem('ai.model_failed', { reason: error.reason }) : error
}

export interface Question {
  /** What to do, in our words. */
  readonly instruction: string
  /** What to do it with: a workspace's own words, which are never instructions. */
  readonly content: string
  readonly maxAnswerTokens: number
}

/** Of one call, as the other side reports them; undefined where it reports none that can be believed. */
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

/** An offered model with its key opened; it lives as long as one call. */
export interface OpenedModel {
  readonly id: string
  readonly kind: AiKind
  readonly base_url: string
  readonly completion_model: string | null
  readonly embedding_model: string | null
  readonly apiKey: string | undefined
}

/** The name the other side knows the model by. Throws AiFailure where the operator named none. */
export const named = (model: string | null): string => model ?? unconfigured()

function unconfigured(): never {
  throw new AiFailure('unconfigured')
}
