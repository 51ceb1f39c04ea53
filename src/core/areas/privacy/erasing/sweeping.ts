/** An erasure under way, as its steps hand it on. */
import type { Choices } from '../../../contract/privacy/requests.ts'

/** An erasure under way, its row locked. */
export interface Sweeping {
  readonly tenantId: string
  readonly id: string
  readonly accountId: string | null
  readonly requestId: string | null
  readonly choices: Choices
  readonly names: readonly string[]
  readonly sweptAt: string | null
}

export interface Named {
  readonly tenantId: string
  readonly id: string
}
