/** The rules of this area, by operation. */
import type { aiProviderOperations } from '../../contract/ai/offered.ts'
import type { aiOperations } from '../../contract/ai/operations.ts'
import type { aiObjectionOperations } from '../../contract/privacy/ai-objection.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { summarizeItem, tellItemSummary } from './item-summary.ts'
import { chooseAiModel, listAiModels, unchooseAiModel } from './models.ts'
import { getAiObjection, noteAiNotice } from './objection.ts'
import { listAiProviders, offerAiProvider, removeAiProvider, replaceAiProvider, vetBaseUrl } from './offered/offer.ts'
import { probeModel, testAiProvider } from './offered/probe.ts'
import { summarizeContainer, tellSummary } from './summary.ts'

export const aiHandlers = {
  getAiObjection,
  noteAiNotice,
  listAiProviders,
  offerAiProvider: withWork(vetBaseUrl, offerAiProvider),
  replaceAiProvider: withWork(vetBaseUrl, replaceAiProvider),
  removeAiProvider,
  testAiProvider: withWork(probeModel, testAiProvider),
  listAiModels,
  chooseAiModel,
  unchooseAiModel,
  summarizeContainer: withWork(tellSummary, summarizeContainer),
  summarizeItem: withWork(tellItemSummary, summarizeItem),
} satisfies HandlersOf<typeof aiProviderOperations & typeof aiOperations & typeof aiObjectionOperations>
