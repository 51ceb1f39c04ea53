/** What a client learns of a server and of its workspace. people 6, M1 and M2. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quotaNames } from '../../src/core/contract/quotas.ts'
import { productVersion } from '../../src/core/kernel/values/product.ts'
import { type Board, openBoard } from '../containers/board.ts'
import { testDaemon } from '../kit/daemon.ts'

let board: Board
beforeAll(async () => {
  board = await openBoard({ outboxDays: 12, eventNamespace: 'acme' })
})
afterAll(() => board.close())

describe('the server', () => {
  test('says what it can to anybody, by the time of the database, and not which release it is', async () => {
    const { sql } = board.daemon.db
    const ask = () => board.daemon.call('GET', '/api/v1/meta/server')
    const { status, json, text } = await ask()
    expect(status).toBe(200)
    expect(json).toEqual({
      contract_version: '1',
      time: expect.any(String),
      mode: 'multi',
      event_namespace: 'acme',
      capabilities: { mail: 'FOLDER', oauth: false, scim: false, ai: false, media: true },
      limits: { body_bytes: 1024 * 1024, page_size: 200, idempotency_hours: 24, event_days: 12 },
      locales: expect.arrayContaining(['en', 'de']),
    })
    const [row] = await sql<{ now: string }[]>`select now()`
    expect(Math.abs(Date.parse(String(row!.now)) - Date.parse(json.time))).toBeLessThan(60_000)
    expect(text).not.toContain(productVersion)
    await sql`
      insert into ai_model (id, kind, display_name, base_url, completion_model, processor, jurisdiction)
      values (gen_random_uuid(), 'NOOP', 'M', 'https://ai.example', 'm', 'P', 'EEA')`
    expect((await ask()).json.capabilities.ai).toBe(true)
    await sql`delete from ai_model`
  })
})

test('a server for one workspace, with a relay and a lower limit of bodies, says so', async () => {
  const relay = { host: '127.0.0.1', port: 1, tls: 'off', login: undefined } as const
  const { mail } = board.daemon.config
  const daemon = await testDaemon({ config: { mode: 'single', mail: { ...mail, relay }, bodyLimitBytes: 64 * 1024 } })
  try {
    const { json } = await daemon.call('GET', '/api/v1/meta/server')
    expect(json).toMatchObject({ mode: 'single', capabilities: { mail: 'RELAY' }, limits: { body_bytes: 64 * 1024 } })
  } finally {
    await daemon.close()
  }
})

describe('the workspace', () => {
  test('is shown to its accounts, a guest too; what is used to administrators', async () => {
    const guest = await board.guest()
    await board.grant(await board.hub(), guest, 'VIEWER')
    const { OWNER, ADMIN, MEMBER, VIEWER } = board.people
    for (const [as, isShown] of [
      [OWNER, true],
      [ADMIN, true],
      [MEMBER, false],
      [VIEWER, false],
      [guest, false],
    ] as const) {
      const { status, json } = await board.ask('GET /meta/workspace', undefined, { as })
      expect(status).toBe(200)
      expect(json).toMatchObject({
        server_version: productVersion,
        workspace: { id: board.tenantId, slug: 'home', display_name: 'Home' },
        managed_accounts: true,
        private_hubs: true,
      })
      expect(Object.keys(json.quotas).sort()).toEqual([...quotaNames].sort())
      expect(json.quotas.webhook_targets).toEqual({ value: 20, used: isShown ? 0 : null })
    }
  })

  test('says the ceilings and switches that were decided', async () => {
    const { sql } = board.daemon.db
    await sql`insert into tenant_quota values (${board.tenantId}, 'items', 7)`
    await sql`insert into setting (name, value) values ('sign_in.private_hubs', 'false')`
    const { json } = await board.ask('GET /meta/workspace')
    expect([json.quotas.items, json.private_hubs]).toEqual([{ value: 7, used: 0 }, false])
    await sql`delete from setting where name = 'sign_in.private_hubs'`
  })
})
