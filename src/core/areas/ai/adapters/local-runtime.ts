/**
 * LOCAL_RUNTIME: the API of Ollama, on a machine of the operator. The base URL is the server's,
 * without `/api`.
 *
 * The server silently truncates a question that is longer than its context, so each call asks for a
 * context that holds our longest question.
 */
import { z } from 'zod'
import { type Adapter, named, type OpenedModel } from '../adapter.ts'
import { type Exchange, understood } from '../exchange.ts'
import { reportedTokens, sumOf } from '../reported-tokens.ts'

/** In tokens: enough for 16 KiB of text in any language, and for the answer. */
const contextTokens = 8192

const counts = { prompt_eval_count: reportedTokens, eval_count: reportedTokens }
const Answered = z.object({ message: z.object({ content: z.string() }), ...counts })
const Embedded = z.object({ embeddings: z.tuple([z.array(z.number()).min(1)], z.unknown()), ...counts })

export function localRuntime(exchange: Exchange, model: OpenedModel): Adapter {
  return {
    async complete({ instruction, content, maxAnswerTokens }) {
      const answer = await exchange('/api/chat', {
        model: named(model.completion_model),
        messages: [
          { role: 'system', content: instruction },
          { role: 'user', content },
        ],
        stream: false,
        options: { num_predict: maxAnswerTokens, num_ctx: contextTokens },
      })
      const { message, prompt_eval_count, eval_count } = understood(answer, Answered)
      return { text: message.content, tokens: sumOf(prompt_eval_count, eval_count) }
    },

    async embed(text) {
      const answer = await exchange('/api/embed', { model: named(model.embedding_model), input: text })
      const { embeddings, prompt_eval_count } = understood(answer, Embedded)
      return { vector: embeddings[0], tokens: prompt_eval_count }
    },
  }
}
