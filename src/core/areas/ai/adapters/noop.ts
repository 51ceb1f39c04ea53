/**
 * NOOP: answers an empty text and makes no call; for an installation that tries out permissions. Spec: AiProviderKind.
 */
import type { Adapter } from '../adapter.ts'

export const noop: Adapter = {
  complete: async () => ({ text: '', tokens: 0 }),
  embed: async () => ({ vector: [], tokens: 0 }),
}
