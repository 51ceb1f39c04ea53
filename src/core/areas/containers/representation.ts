/** A container in the form of its answers and events, and the record of its changes. */

import type { Container } from '../../contract/containers/operations.ts'
import { type ContainerPolicies, policyNames } from '../../contract/containers/policies.ts'
import type { EventName } from '../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type ContainerRow, effectivePolicies, type PolicyColumns, visibleContainer } from '../access/access.ts'
import { positionOf } from './order.ts'

/** What an answer of a container is made of. */
type Row = Omit<Container, 'position' | 'policies' | 'effective_policies'> & PolicyColumns

/** The row, as an answer and an event show it. */
export const containerOf = (row: Row, position: number): Container => ({
  ...row,
  position,
  policies: Object.fromEntries(policyNames.map((name) => [name, row[name]])) as ContainerPolicies,
  effective_policies: effectivePolicies(row),
})

/** The row, with its position among the siblings that the caller sees. */
export async function represented(ctx: Ctx, row: ContainerRow): Promise<Container> {
  return containerOf(row, await positionOf(ctx, row.id))
}

type ContainerEvent = Extract<EventName, `work.container.${string}`>

/** Writes the trail's entry and the event of a change, which may still be on its way, and answers the container after it. */
export async function recorded(
  ctx: Ctx,
  containerId: string,
  event: ContainerEvent,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Container> {
  const [row, position] = await together(visibleContainer(ctx, containerId), positionOf(ctx, containerId))
  const container = containerOf(row, position)
  await ctx.record(event, container, params)
  return container
}
