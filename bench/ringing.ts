/**
 * The bell: what it costs 16 writers that a webhook hears of each change, against as many changes of which none does; and the
 * time from the answer of a change to the receipt of its event, in the process that committed and in another one. Nobody
 * delivers while the writers are compared, but somebody listens. Targets: docs/decisions/0195.
 */
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { request } from 'undici'
import { perform } from '../src/core/app/perform.ts'
import { startDispatcher } from '../src/core/areas/webhooks/dispatch/dispatcher.ts'
import { addSecret } from '../src/core/areas/webhooks/secret.ts'
import { itemOperations } from '../src/core/contract/items/operations.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { listen } from '../src/core/kernel/database/notifications.ts'
import { openEgress } from '../src/core/kernel/egress/client.ts'
import { type Release, readRelease } from '../src/core/kernel/egress/guard.ts'
import { dueChannel } from '../src/core/kernel/outbox/bell.ts'
import { recoveryActor } from '../src/core/kernel/values/actor.ts'
import { addWorkspace, type Ground } from './ground.ts'
import { startDaemon, startServer } from './processes.ts'
import { anyOf, type Client, openClient, type SignedRequest } from './requests.ts'
import { compare, median } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const writers = 16
const rounds = 25
const roundMs = 1_000
const samples = 300
const heardType = 'svc.work.item.created.v1'

type Workspace = Awaited<ReturnType<typeof addWorkspace>>

export async function ringing(ground: Ground): Promise<Line[]> {
  const receiver = await startServer([process.execPath, join(import.meta.dirname, 'receiving-server.ts')])
  const [silent, heard] = [await workspacesOf(ground, 'silent'), await workspacesOf(ground, 'heard')]
  for (const { tenantId } of heard) await subscribe(ground, tenantId, `${receiver.address}/${tenantId}`)
  const daemon = await startDaemon(ground.environment, '--role', 'api')
  const client = openClient(daemon.address, writers)
  try {
    return [
      await writing(ground, client, heard, silent),
      ...(await receipts(ground, client, heard[0]!, receiver.address)),
    ]
  } finally {
    await client.close()
    await daemon.stop()
    await receiver.stop()
  }
}

async function workspacesOf(ground: Ground, name: string): Promise<Workspace[]> {
  const all: Workspace[] = []
  while (all.length < writers) all.push(await addWorkspace(ground, `${name}-${all.length}`))
  return all
}

const subscribe = ({ installation }: Ground, tenantId: string, url: string): Promise<void> =>
  installation.transaction(recoveryActor(), { tenantId }, async (ctx) => {
    const id = randomUUIDv7()
    await ctx.tx`
      insert into webhook (tenant_id, id, target_url, host, event_types)
      values (${tenantId}, ${id}, ${url}, ${new URL(url).host}, ${ctx.tx.json([heardType])})`
    await addSecret(ctx, tenantId, id)
  })

const creation = ({ token, collectionId }: Workspace): SignedRequest => ({
  ...{ token, method: 'POST', path: '/items' },
  body: { container_id: collectionId, title: 'Told' },
})

async function writing({ installation }: Ground, client: Client, heard: Workspace[], silent: Workspace[]) {
  const listening = listen(installation.address, dueChannel, { heard() {}, listens() {} })
  const round = (workspaces: Workspace[]) => () => client.rate(() => creation(anyOf(workspaces)), roundMs)
  const compared = await compare(round(heard), round(silent), rounds)
  await listening.close()
  const what = `ringing: ${writers} writers of items, with a webhook in each workspace against none`
  return ratioLine(what, { ...compared, unit: '/s' }, 'at least', 0.9)
}

/** One event at a time. What the writers left is removed before, so that only its own delivery is under way. */
async function receipts(ground: Ground, client: Client, workspace: Workspace, receiver: string): Promise<Line[]> {
  const { installation, superuser } = ground
  const { tenantId } = workspace
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  await sql`truncate delivery, delivery_attempt`
  await sql.end()
  const egress = openEgress({ release: readRelease('127.0.0.1') as Release, own: [] })
  const dispatcher = startDispatcher(installation, egress, {
    onFailure: (what, error) => process.stderr.write(`${what}: ${error}\n`),
  })
  const owner = { ...ground.actor, tenantId, accountId: workspace.accountId, isOperator: false }
  const here = () => perform(installation, itemOperations.createItem, owner, { body: creation(workspace).body })
  const elsewhere = () => client.send(creation(workspace))
  try {
    const took = async (change: () => Promise<unknown>) => median(await waits(change, `${receiver}/${tenantId}`))
    return [
      ceilingLine('ringing: commit to receipt in one process, median', await took(here), 'ms', 5),
      ceilingLine('ringing: commit to receipt across two processes, median', await took(elsewhere), 'ms', 25),
    ]
  } finally {
    await dispatcher.close()
    await egress.close()
  }
}

/** Milliseconds from the answer of each change to the receipt of its event; the first ones, which open connections, do not count. */
async function waits(change: () => Promise<unknown>, url: string): Promise<number[]> {
  const read = async () => (await (await request(url)).body.json()) as number[]
  const known = (await read()).length
  const ended: number[] = []
  for (let n = 0; n < samples; n += 1) {
    await change()
    ended.push(performance.timeOrigin + performance.now())
    while ((await read()).length < known + n + 1) await pause(2)
    await pause(Math.random() * 10)
  }
  return (await read())
    .slice(known)
    .map((at, n) => at - ended[n]!)
    .slice(20)
}
