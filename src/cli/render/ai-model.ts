/** An offered AI model for people. */
import type { OfferedAiModel } from '../../core/contract/ai/offered.ts'
import { details } from './details.ts'

export const modelDetails = (model: OfferedAiModel): string =>
  details([
    ['name', model.display_name],
    ['kind', model.kind],
    ['base URL', model.base_url],
    ['processor', model.processor],
    ['jurisdiction', model.jurisdiction],
    ['completion', model.completion_model ?? ''],
    ['embedding', model.embedding_model ?? ''],
    ['key', model.has_api_key ? 'sealed' : ''],
    ['id', model.id],
  ])
