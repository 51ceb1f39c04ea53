/** Goes through the workspaces of an installation, for a job that looks after each of them. */
import type { SystemActor } from '../values/actor.ts'
import type { Ctx } from './context.ts'
import type { Installation } from './installation.ts'
import { firstId } from './page.ts'

/** Workspaces that one transaction looks at. */
const lookedAt = 200

/** The ids of the workspaces for which `has` finds something to do. `has` sends one statement, as the workspace. */
export async function* workspacesThat(
  installation: Installation,
  actor: SystemActor,
  has: (ctx: Ctx, tenantId: string) => Promise<boolean>,
): AsyncGenerator<string> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const from: string = after
    const { found, last } = await installation.transaction(actor, { readOnly: true }, (ctx) => look(ctx, from, has))
    yield* found
    after = last
  }
}

/** One batch; `last` is undefined after the last batch. */
async function look(ctx: Ctx, after: string, has: (ctx: Ctx, tenantId: string) => Promise<boolean>) {
  const tenants = await ctx.tx<{ id: string }[]>`
    select id from tenant where id > ${after}::uuid order by id limit ${lookedAt}`
  const found: string[] = []
  await Promise.all(
    tenants.map(({ id }) =>
      ctx.inWorkspaceAtOnce(id, () => [has(ctx, id).then((isMeant) => (isMeant ? found.push(id) : undefined))]),
    ),
  )
  return { found, last: tenants.length < lookedAt ? undefined : tenants.at(-1)?.id }
}
