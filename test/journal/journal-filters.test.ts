/** The installation's record by moment, action, workspace and actor, in both ways. Decision 0372. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { listJournal } = operations
type Query = Parameters<Callers['api']['call']>[1] & object

let own: TestInstallation
let who: Callers
const [acme, globex, ada, bob] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7(), randomUUIDv7()]

beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  await own.oracle`delete from journal`
  let n = 0
  /** An entry of that minute of 2026; ids are those of daemons whose clocks differ, so they say nothing of the order. */
  const entry = (minute: number, action: string, workspace: 'acme' | 'globex' | null, actor: string) => {
    n += 1
    const id = `${String(9 - n).padStart(8, '0')}-0000-7000-8000-000000000000`
    const [tenantId] = workspace === null ? [null] : [workspace === 'acme' ? acme : globex]
    const account = actor === 'ada' ? ada : actor === 'bob' ? bob : null
    const kind = account === null ? actor : 'ACCOUNT'
    return own.oracle`
      insert into journal (id, at, action, actor_kind, actor_account_id, via, workspace_id, workspace_slug)
      values (${id}, ${new Date(Date.UTC(2026, 0, 1, 0, minute))}, ${action}, ${kind}, ${account}, 'API', ${tenantId}, ${workspace})`
  }
  await entry(1, 'tenant.provisioned', 'acme', 'ada')
  await entry(2, 'tenant.provisioned', 'globex', 'bob')
  await entry(3, 'tenant.suspended', 'acme', 'bob')
  await entry(4, 'tenant.purge_started', 'globex', 'SYSTEM')
  await entry(5, 'operator.added', null, 'RECOVERY')
  await entry(6, 'operator.removed', null, 'ada')
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const minutes = ({ data }: Answer<typeof listJournal>) => data.map(({ at }) => new Date(at).getUTCMinutes())
const minute = (n: number) => `2026-01-01T00:0${n}:00Z`

const asked: readonly (readonly [string, object, readonly number[]])[] = [
  ['nothing: by moment, whatever the ids are', {}, [6, 5, 4, 3, 2, 1]],
  ['from a moment, which counts', { from: minute(4) }, [6, 5, 4]],
  ['until a moment, which does not count', { until: minute(4) }, [3, 2, 1]],
  ['a period in another zone', { from: '2026-01-01T03:02:00+03:00', until: '2026-01-01T03:04:00+03:00' }, [3, 2]],
  ['an empty period', { from: minute(4), until: minute(4) }, []],
  ['one action', { action: 'tenant.provisioned' }, [2, 1]],
  ['a family', { action: 'operator.*' }, [6, 5]],
  ['the beginning of a name', { action: 'tenant.p*' }, [4, 2, 1]],
  ['an action that never was', { action: 'tenant.p' }, []],
  ['several actions, merged in their order', { action: 'operator.added,tenant.suspended,tenant.purge*' }, [5, 4, 3]],
  ['actions that overlap, each entry once', { action: 'tenant.*,tenant.suspended,tenant.p*,tenant.*' }, [4, 3, 2, 1]],
  ['a workspace by its id', { tenant_id: globex }, [4, 2]],
  ['a workspace by its slug', { slug: 'acme' }, [3, 1]],
  ['an id and a slug that are not of one workspace', { tenant_id: globex, slug: 'acme' }, []],
  ['an account', { actor_id: ada }, [6, 1]],
  ['the operator at the database', { actor_kind: 'RECOVERY' }, [5]],
  ['jobs', { actor_kind: 'SYSTEM' }, [4]],
  ['all at once', { from: minute(2), action: 'tenant.*', slug: 'acme', actor_id: bob, actor_kind: 'ACCOUNT' }, [3]],
]

describe.each(modes)('by %s', (mode) => {
  const list = (query: object) => who[mode].call(listJournal, query as Query)

  test.each(asked)('%s', async (_, query, found) => {
    expect(minutes(await list(query))).toEqual(found)
  })

  test.each(asked.filter(([, , found]) => found.length > 1))(
    'pages of %s join to the whole',
    async (_, query, found) => {
      for (const size of [1, 2]) {
        const seen: number[] = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page: Answer<typeof listJournal> = await list({ ...query, size, ...(cursor ? { cursor } : {}) })
          seen.push(...minutes(page))
          cursor = page.next_cursor
        }
        expect(seen).toEqual(found)
      }
    },
  )

  test('a cursor belongs to its filters', async () => {
    const { next_cursor: cursor } = await list({ action: 'tenant.*', size: 1 })
    for (const query of [{}, { action: 'tenant.p*' }, { action: 'tenant.*', slug: 'acme' }])
      await expect(list({ ...query, cursor })).rejects.toMatchObject({ code: 'cursor.invalid' })
  })

  test.each([
    { from: 'yesterday' },
    { until: '2026-01-01' },
    { action: 'tenant' },
    { action: '*' },
    { action: 'tenant.*x' },
    { action: "tenant.'*" },
    { action: 'Tenant.suspended' },
    { action: Array.from({ length: 11 }, () => 'tenant.a').join(',') },
    { tenant_id: 'acme' },
    { slug: 'A' },
    { actor_id: 'ada' },
    { actor_kind: 'ANYONE' },
  ])('the query %j is malformed', async (query) => {
    await expect(list(query)).rejects.toMatchObject({ code: 'request.malformed', status: 400 })
  })
})

test('entries of one moment are in the order of their ids, on pages, too', async () => {
  const at = new Date('2026-02-01T00:00:00Z')
  const ids = Array.from({ length: 5 }, () => randomUUIDv7())
  for (const id of ids)
    await own.oracle`insert into journal (id, at, action, actor_kind, via) values (${id}, ${at}, 'search.reindex_requested', 'SYSTEM', 'JOB')`
  const seen: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { action: 'search.*', size: 2, ...(cursor ? { cursor } : {}) }
    const page: Answer<typeof listJournal> = await who.recovery.call(listJournal, query)
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  }
  expect(seen).toEqual(ids.toSorted().toReversed())
})
