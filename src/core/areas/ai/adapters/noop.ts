/** NOOP: a model that says nothing and calls nobody, for an installation that tries out who may ask what. Spec: AiProviderKind. */
import type { Adapter } from '../adapter.ts'

export const noop: Adapter = {
  complete: async () => ({ text: '', tokens: 0 }),
  embed: async () => ({ vector: [], tokens: 0 }),
}
