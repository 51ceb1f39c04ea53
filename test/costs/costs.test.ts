/**
 * What each operation costs the database in its plain case: statements and round trips, counted by
 * what leaves the daemon's sockets. The page docs/generated/costs.md lists them; a change that
 * costs more fails until the page is renewed by `npx vitest run test/costs -u`.
 * Spec: house rules on round trips; docs/decisions/0176.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { isRead } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { root } from '../house/source.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { TestDaemon } from '../kit/daemon.ts'
import { plainCases } from './plain-cases.ts'
import { type Cost, type Wire, wireTo } from './wire.ts'

const boards = ['containers', 'structure', 'items', 'comments', 'templates']
const budgets = { read: { statements: 7, roundTrips: 2 }, change: { statements: 16, roundTrips: 4 } }

let desk: Desk
let wire: Wire
let measured: TestDaemon
beforeAll(async () => {
  desk = await openDesk()
  const { db } = desk.daemon
  wire = await wireTo(db.daemon)
  measured = await desk.daemon.twin({ database: { owner: db.owner, daemon: wire.address } })
})
afterAll(async () => {
  await measured.close()
  await wire.close()
  await desk.close()
})

/**
 * The least of more calls than the pool has connections: each connection plans a statement once, and beside one of the
 * calls the daemon may record that a token was used.
 */
async function costOf(request: () => Promise<readonly [string, unknown?]>): Promise<Cost> {
  const costs: Cost[] = []
  for (let at = 0; at < 12; at += 1) {
    const [line, body] = await request()
    const [method = '', path = ''] = line.split(' ')
    wire.taken()
    const { status, text } = await measured.call(method, `/api/v1${path}`, {
      token: desk.people.OWNER.token,
      ...(body === undefined ? {} : { body }),
    })
    if (status >= 300) throw new Error(`${line}: ${status} ${text}`)
    costs.push(wire.taken())
  }
  const least = (of: (cost: Cost) => number) => Math.min(...costs.map(of))
  return {
    statements: least(({ statements }) => statements),
    roundTrips: least(({ roundTrips }) => roundTrips),
    packets: least(({ packets }) => packets),
  }
}

test('every operation on boards has a plain case', () => {
  const onBoards = (Object.values(operations) as readonly Operation[]).filter(({ area }) => boards.includes(area))
  const cases = Object.keys(plainCases(desk))
  const missing = onBoards.map(({ id }) => id).filter((id) => !cases.includes(id))
  expect(missing, 'add a plain case of each to test/costs/plain-cases.ts').toEqual([])
})

test('the page of costs is what the operations cost', { timeout: 180_000 }, async () => {
  const lines: string[] = []
  for (const [id, { request, why }] of Object.entries(plainCases(desk))) {
    const operation: Operation = operations[id as keyof typeof operations]
    const cost = await costOf(request)
    const budget = isRead(operation) ? budgets.read : budgets.change
    const isAbove = cost.statements > budget.statements || cost.roundTrips > budget.roundTrips
    if (isAbove !== (why !== undefined))
      expect.soft(`${id}: ${JSON.stringify(cost)}`).toBe(isAbove ? 'has a reason' : 'needs no reason')
    // Each round trip is one write: a second one would cost as much as a round trip.
    expect.soft(cost.packets, `${id}: writes to the socket`).toBe(cost.roundTrips)
    lines.push(`| ${id} | ${cost.roundTrips} | ${cost.statements} | ${why ?? ''} |`)
  }
  // Are the costs meant? `npx vitest run test/costs -u` writes the page anew.
  await expect(page(lines)).toMatchFileSnapshot(join(root, 'docs/generated/costs.md'))
})

const page = (lines: readonly string[]) => `# What an operation costs the database

Written by \`npx vitest run test/costs -u\`; do not edit. Round trips and statements of the plain case, at a connection that
has planned them and a daemon that knows the token. Budgets: ${budgets.read.roundTrips} round trips and ${budgets.read.statements} statements for a read,
${budgets.change.roundTrips} and ${budgets.change.statements} for a change. An operation above its budget says why.

| Operation | Round trips | Statements | Why more |
|---|---|---|---|
${lines.join('\n')}
`
