/**
 * What the trail and the events say of a request that was decided or is over: one event for granted and refused, and one for done
 * and withdrawn; the entry says which. Ids, kinds and codes alone. Spec: Keeping, 2, N3.
 */
import type { RequestKind } from '../../contract/privacy/requests.ts'
import type { Ctx, Evidence } from '../../kernel/transaction/context.ts'

interface Named {
  readonly id: string
  readonly kind: RequestKind
}

export async function recordDecided(
  ctx: Ctx,
  { id, kind }: Named,
  state: 'GRANTED' | 'REFUSED',
  params: Evidence['params'] = {},
): Promise<void> {
  const action = state === 'GRANTED' ? 'privacy_request.granted' : 'privacy_request.refused'
  await ctx.audit(action, { subject: { kind: 'privacy_request', id }, params: { kind, ...params } })
  await ctx.emit({ name: 'work.privacy_request.decided', data: { id, kind, state } })
}

export async function recordClosed(ctx: Ctx, { id, kind }: Named, state: 'DONE' | 'WITHDRAWN'): Promise<void> {
  const action = state === 'DONE' ? 'privacy_request.done' : 'privacy_request.withdrawn'
  await ctx.audit(action, { subject: { kind: 'privacy_request', id } })
  await ctx.emit({ name: 'work.privacy_request.closed', data: { id, kind, state } })
}
