/**
 * A hold against the removal of what was purged: whichever came first, an item is whole or gone. What a hold that was
 * answered found is whole until its release, and gone behind it. 15 rounds, 200 with SVC_FAULTS=full.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import { type HoldScope, retentionOperations } from '../../src/core/contract/retention/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { tightRace } from '../kit/tight-race.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 15

let desk: Desk
let installation: Installation
let close: () => Promise<void>
beforeAll(async () => {
  desk = await openDesk()
  await desk.field({ key: 'note', kind: 'TEXT' })
  const booted = await bootInstallation(desk.daemon.config, { works: false, applicationName: 'svc test' })
  ;({ installation } = booted)
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await desk.close()
})

const destroy = () => removePurged.run(installation, { tenantId: desk.tenantId })
const whole = { item: 1, labels: 2, field_values: 1, keys: 2, members: 1 }
const gone = { item: 0, labels: 0, field_values: 0, keys: 0, members: 0 }

async function purged(): Promise<string> {
  const item = await desk.item({ label_ids: desk.labels, custom_fields: { note: 'canary' } })
  await desk.act(item, 'assign', { account_id: desk.people.MEMBER.accountId })
  expect((await desk.ask(`DELETE /items/${item.id}`)).status).toBe(204)
  expect((await desk.ask(`POST /items/${item.id}:purge`)).status).toBe(204)
  return item.id
}

async function rowsOf(id: string): Promise<object> {
  const [row] = await desk.daemon.db.sql`
    select (select count(*)::int from item where id = ${id}) as item,
           (select count(*)::int from item_label where item_id = ${id}) as labels,
           (select count(*)::int from item_field_value where item_id = ${id}) as field_values,
           (select count(*)::int from item_field_key where item_id = ${id}) as keys,
           (select count(*)::int from item_member where item_id = ${id}) as members`
  return { ...row }
}

/** The hold's id, or the code of its refusal. */
const place = (scope: HoldScope) =>
  performForAnswer(installation, retentionOperations.placeHold, recoveryActor(), {
    body: { tenant_id: desk.tenantId, scope, reason: 'court' },
  }).then(
    ({ id }) => ({ id }),
    (error: { code: string }) => ({ code: error.code }),
  )

test(`a hold against the removal, ${rounds} rounds`, { timeout: 600_000 }, async () => {
  const seen = { whole: 0, gone: 0 }
  const race = tightRace()
  for (let round = 0; round < rounds; round += 1) {
    const id = await purged()
    const scopes: readonly HoldScope[] = [
      { kind: 'ITEM', id },
      { kind: 'CONTAINER', id: desk.collectionId },
      { kind: 'TENANT', id: null },
      { kind: 'ACCOUNT', id: desk.people.MEMBER.accountId },
    ]
    const [hold] = await race.run(() => place(scopes[round % scopes.length]!), destroy)
    const found = await rowsOf(id)
    await destroy()
    expect([round, await rowsOf(id)]).toEqual([round, found])
    expect([whole, gone]).toContainEqual(found)
    const isWhole = 'item' in found && found.item === 1
    seen[isWhole ? 'whole' : 'gone'] += 1
    race.wonBy(isWhole ? 'first' : 'second')
    if ('code' in hold) expect([hold.code, isWhole]).toEqual(['request.invalid', false])
    else await performForAnswer(installation, retentionOperations.releaseHold, recoveryActor(), { holdId: hold.id })
    await destroy()
    expect([round, await rowsOf(id)]).toEqual([round, gone])
  }
  expect(Math.min(seen.whole, seen.gone), `both came up: ${JSON.stringify(seen)}`).toBeGreaterThan(0)
})
