/** The rules of this area, by operation. */
import type { eventTypeOperations, triggerOperations } from '../../contract/events/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listEventTypes } from './event-types.ts'
import { pullEvents } from './pull.ts'

export const eventsHandlers = {
  listEventTypes,
  pullEvents,
} satisfies HandlersOf<typeof eventTypeOperations & typeof triggerOperations>
