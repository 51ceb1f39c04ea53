/**
 * The notifier: in every daemon that works, it takes turns at workspaces where something waits to be told or mailed
 * (kernel/transaction/rounds.ts). A lock of the workspace lets one daemon take a turn (telling.ts).
 * Spec: people 3; docs/decisions/0430.
 */
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Rounds, startRounds } from '../../kernel/transaction/rounds.ts'
import { dropWaiting, notifier, takeTurn } from './telling.ts'

const workspacesAtOnce = 100

interface Found {
  readonly id: string
  readonly state: string
}

export const startNotifier = (
  installation: Installation,
  { onFailure }: { readonly onFailure: (what: string, error: unknown) => void },
): Rounds => {
  const states = new Map<string, string>()
  return startRounds({
    async look() {
      const found = await findWork(installation)
      states.clear()
      for (const { id, state } of found) states.set(id, state)
      return found.map(({ id }) => id)
    },
    turn: (id) => takeOrDrop(installation, { id, state: states.get(id) ?? 'ACTIVE' }),
    failed: (what, error) => onFailure(`notifications: ${what === 'look' ? 'looking for work' : 'telling'}`, error),
  })
}

/** Tells everything there is to tell now: for tests, and for whoever cannot wait for the next look. */
export async function tellAll(installation: Installation): Promise<void> {
  for (;;) {
    let hasMore = false
    for (const found of await findWork(installation)) while (await takeOrDrop(installation, found)) hasMore = true
    if (!hasMore) return
  }
}

async function takeOrDrop(installation: Installation, { id, state }: Found): Promise<boolean> {
  if (state === 'ACTIVE') return takeTurn(installation, id)
  await dropWaiting(installation, id)
  return false
}

/** Workspaces where something waits to be told, or a mail is due. */
const findWork = (installation: Installation): Promise<readonly Found[]> =>
  installation.transaction(
    notifier,
    { readOnly: true },
    ({ tx }) => tx<Found[]>`
      with recursive waiting (id) as (
        (select tenant_id from notification_pending order by tenant_id limit 1)
        union all
        select (select p.tenant_id from notification_pending p where p.tenant_id > w.id order by p.tenant_id limit 1)
        from waiting w where w.id is not null)
      select t.id, t.state from tenant t
      where exists (select from installation where gated_at is null) and t.id in (
        select id from waiting
        union all
        select tenant_id from (
          select tenant_id from notification where mail_due_at <= now() order by mail_due_at limit 1000) due)
      order by random() limit ${workspacesAtOnce}`,
  )
