/**
 * Clients create, reorder, move, archive, delete and restore containers at once: afterwards the order of every
 * hub is a permutation, nothing is lost or doubled, hubs hold collections and nothing else, and no answer was 5xx.
 * With SVC_FAULTS=full 200 rounds of 20, else 8.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import { type Board, openBoard } from './board.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 8
const clients = 20

let board: Board
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())

let seed = 20261120
const lot = (below: number) => {
  seed = (seed * 48271) % 2147483647
  return seed % below
}
const oneOf = <T>(list: readonly T[]): T => list[lot(list.length)] as T

test(`${rounds} rounds of ${clients} clients on the same hubs`, { timeout: 1_800_000 }, async () => {
  const hubs = [await board.hub({ name: 'h1' }), await board.hub({ name: 'h2' }), await board.hub({ name: 'h3' })]
  const collections: string[] = []
  for (let n = 0; n < 15; n += 1) collections.push((await board.collection(oneOf(hubs))).id)
  const created = new Set([...hubs.map(({ id }) => id), ...collections])

  /** One thing that a client does; ids are drawn before anybody begins, so that clients meet. */
  const drawn = (): readonly [request: `${string} /${string}`, body?: object] => {
    const [id, before, hub] = [oneOf(collections), oneOf(collections), oneOf(hubs).id]
    const neighbour = lot(3) === 0 ? null : before
    const acts: readonly (readonly [`${string} /${string}`, object?])[] = [
      [`POST /containers/${id}:reorder`, { before_container_id: neighbour }],
      [`POST /containers/${id}:reorder`, { before_container_id: neighbour }],
      [`POST /containers/${id}:move`, { parent_id: hub, before_container_id: neighbour }],
      [`POST /containers/${id}:move`, { parent_id: hub }],
      [`POST /containers/${hub}:reorder`, { before_container_id: oneOf(hubs).id }],
      ['POST /containers', { kind: 'COLLECTION', parent_id: hub, name: 'new' }],
      [`DELETE /containers/${id}`],
      [`POST /containers/${id}:restore`],
      [`POST /containers/${lot(4) === 0 ? hub : id}:archive`],
      [`POST /containers/${lot(2) === 0 ? hub : id}:unarchive`],
      [`DELETE /containers/${lot(4) === 0 ? hub : id}`],
      [`POST /containers/${hub}:restore`],
    ]
    return oneOf(acts)
  }

  const statuses = new Map<number, number>()
  for (let round = 0; round < rounds; round += 1) {
    const acts = Array.from({ length: clients }, drawn)
    const answers = await Promise.all(acts.map(([request, body]) => board.ask(request, body)))
    for (const [at, { status, json }] of answers.entries()) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect([acts[at], json?.code, status < 500]).toEqual([acts[at], json?.code, true])
      if (status === 201) {
        created.add(json.id)
        collections.push(json.id)
      }
    }
    await expectSound(created)
  }
  expect(statuses.get(200) ?? 0).toBeGreaterThan(rounds * 4)

  for (const { id } of hubs) await board.ask(`POST /containers/${id}:restore`)
  for (const { id } of hubs) expect(await board.order({ id })).toBeInstanceOf(Array)
})

/** What has to hold after every round, by the rows themselves. */
async function expectSound(created: ReadonlySet<string>): Promise<void> {
  const { sql } = board.daemon.db
  const rows = await sql<(Pick<Container, 'id' | 'kind' | 'parent_id'> & { rank: string })[]>`
    select id, kind, parent_id, rank from container where tenant_id = ${board.tenantId}`
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const id of created) expect(byId.has(id)).toBe(true)
  const places = new Set<string>()
  for (const { kind, parent_id, rank } of rows) {
    expect(parent_id === null ? kind : byId.get(parent_id)?.kind).toBe('HUB')
    places.add(`${parent_id} ${rank}`)
  }
  expect(places.size).toBe(rows.length)
  const [unrecorded] = await sql`
    select count(*)::int as count from container c where c.tenant_id = ${board.tenantId}
    and c.version <> (select count(*) from audit_entry a where a.tenant_id = c.tenant_id and a.subject_id = c.id)
    and exists (select from audit_entry a where a.tenant_id = c.tenant_id and a.subject_id = c.id and a.action = 'container.created')`
  expect(unrecorded).toEqual({ count: 0 })
}
