/** A container in the form of its answers and events, and the record of its changes. */

import type { Container } from '../../contract/containers/operations.ts'
import type { EventName } from '../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type ContainerRow, visibleContainer } from '../access/access.ts'
import { positionOf } from './order.ts'

/** The row, with its position among the siblings that the caller sees. */
export async function represented(ctx: Ctx, row: ContainerRow): Promise<Container> {
  return { ...row, position: await positionOf(ctx, row.id) }
}

type ContainerEvent = Exclude<Extract<EventName, `work.container.${string}`>, 'work.container.policies_changed'>

/** Writes the trail's entry and the event of a change, which may still be on its way, and answers the container after it. */
export async function recorded(
  ctx: Ctx,
  containerId: string,
  event: ContainerEvent,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Container> {
  const [row, position] = await together(visibleContainer(ctx, containerId), positionOf(ctx, containerId))
  const container = { ...row, position }
  await ctx.record(event, container, params)
  return container
}
