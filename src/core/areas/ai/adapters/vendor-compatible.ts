/**
 * VENDOR_COMPATIBLE: the API of OpenAI for chat completions and embeddings, which many vendors and
 * gateways offer. The base URL is the part before `/chat/completions`.
 *
 * Newer models refuse `max_tokens` and want `max_completion_tokens`; most servers know only
 * `max_tokens`. The refusal names the parameter, so the adapter then tries the other one.
 */
import { z } from 'zod'
import { type Adapter, named, type OpenedModel, type Question } from '../adapter.ts'
import { type Exchange, understood } from '../exchange.ts'
import { reportedTokens, sumOf } from '../reported-tokens.ts'

const usage = z
  .object({ prompt_tokens: reportedTokens, completion_tokens: reportedTokens, total_tokens: reportedTokens })
  .partial()
  .nullish()
  .catch(null)

const Answered = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string().nullish() }) })], z.unknown()),
  usage,
})
const Embedded = z.object({ data: z.tuple([z.object({ embedding: z.array(z.number()).min(1) })], z.unknown()), usage })

/** The body with which a vendor refuses a parameter. */
const RefusedParameter = z.object({ error: z.object({ param: z.literal('max_tokens') }) })

export function vendorCompatible(exchange: Exchange, model: OpenedModel): Adapter {
  return {
    async complete(question) {
      const name = named(model.completion_model)
      const first = await exchange('/chat/completions', asked(name, question, 'max_tokens'))
      const wantsOther = first.status === 400 && RefusedParameter.safeParse(first.body).success
      const answer = wantsOther
        ? await exchange('/chat/completions', asked(name, question, 'max_completion_tokens'))
        : first
      const { choices, usage } = understood(answer, Answered)
      return { text: choices[0].message.content ?? '', tokens: tokensOf(usage) }
    },

    async embed(text) {
      const name = named(model.embedding_model)
      const { data, usage } = understood(await exchange('/embeddings', { model: name, input: text }), Embedded)
      return { vector: data[0].embedding, tokens: tokensOf(usage) }
    },
  }
}

const asked = (model: string, { instruction, content, maxAnswerTokens }: Question, bound: string) => ({
  model,
  messages: [
    { role: 'system', content: instruction },
    { role: 'user', content },
  ],
  stream: false,
  [bound]: maxAnswerTokens,
})

const tokensOf = (usage: z.output<typeof Answered>['usage']) =>
  usage?.total_tokens ?? sumOf(usage?.prompt_tokens, usage?.completion_tokens ?? 0)
