/**
 * Cursors of a pull: good where they were made and nowhere else. Threats T-12.
 * SVC_FAULTS=full runs the long form.
 */
import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { Problem } from '../../src/core/contract/problem.ts'
import { writeCursor } from '../../src/core/kernel/transaction/cursor.ts'
import { adminOf, pulledType, pullPage, writeLabels } from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const mutations = process.env['SVC_FAULTS'] === 'full' ? 20_000 : 500

let own: TestInstallation
let tenantId: string
let good: string
beforeAll(async () => {
  own = await testInstallation()
  tenantId = (await own.provision()).tenant.id
  await writeLabels(own.installation, tenantId, 'a', 'b')
  good = (await pullPage(own.installation, tenantId, { limit: 1 })).next_since
})
afterAll(() => own.close())

/** What a cursor is answered with; the whole refusal, so that no cause can be told from another. */
async function answerTo(since: string, of = tenantId, eventType = pulledType): Promise<unknown> {
  try {
    await pullPage(own.installation, of, { since, eventType })
    return 'answered'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return {
      code: error.code,
      status: error.status,
      params: error.params,
      errors: error.errors,
      headers: error.headers,
    }
  }
}

const invalid = { code: 'cursor.invalid', status: 400, params: {}, errors: undefined, headers: {} }
const gone = { ...invalid, code: 'gone', status: 410 }

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Ways to alter a cursor; each gives another text, or the same where it did nothing. */
const altered = (text: string) =>
  fc.oneof(
    fc
      .tuple(fc.nat(text.length - 1), fc.nat(63))
      .map(([at, to]) => text.slice(0, at) + alphabet[to] + text.slice(at + 1)),
    fc.tuple(fc.nat(Buffer.from(text, 'base64url').length - 1), fc.nat(7)).map(([at, bit]) => {
      const bytes = Buffer.from(text, 'base64url')
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      return bytes.toString('base64url')
    }),
    fc.nat(text.length - 1).map((length) => text.slice(0, length)),
    fc.string({ maxLength: 40 }).map((more) => text + more),
    fc.tuple(fc.nat(text.length), fc.nat(text.length)).map(([from, to]) => text.slice(from) + text.slice(0, to)),
    fc.string({ unit: 'binary', maxLength: 512 }),
    fc.constantFrom(`${text}=`, ` ${text}`, text.toLowerCase(), text.toUpperCase(), '', 'null', '0'),
  )

describe('a cursor', () => {
  test(`that was altered is refused, with one answer for every cause: ${mutations} alterations`, async () => {
    await fc.assert(
      fc.asyncProperty(altered(good), async (text) => {
        fc.pre(text !== good)
        // An absent one begins anew and is no cursor at all; one that is too long breaks the query.
        const answer = await answerTo(text)
        if (text.length > 512) expect(answer).toMatchObject({ status: 400 })
        else expect(answer).toEqual(invalid)
      }),
      { numRuns: mutations },
    )
    expect(await answerTo(good)).toBe('answered')
  }, 600_000)

  test("is no other workspace's, no other type's, and no other list's", async () => {
    const { tenant } = await own.provision()
    expect(await answerTo(good, tenant.id)).toEqual(invalid)
    expect(await answerTo(good, tenantId, 'svc.work.bucket.created.v1')).toEqual(invalid)
    const lists = Object.values(operations).filter(
      (operation: Operation) =>
        operation.query !== undefined && 'cursor' in operation.query.shape && operation.needs.caller === 'workspace',
    )
    expect(lists.length).toBeGreaterThan(0)
    const admin = { ...adminOf(tenantId), scopes: ['workspace:read', 'workspace:admin'] as const }
    for (const list of lists) {
      const params = Object.fromEntries(
        Object.keys((list as Operation).params?.shape ?? {}).map((name) => [name, randomUUIDv7()]),
      )
      const opened = performForAnswer(own.installation, list as Operation, admin, { ...params, cursor: good } as never)
      await expect(opened, list.id).rejects.toMatchObject({
        code: expect.stringMatching(/^(cursor\.invalid|not_found)$/),
      })
    }
    const listed = writeCursor(
      own.installation.keyring,
      { operation: 'listContainers', scope: tenantId, filters: { eventType: pulledType } },
      own.installation.identity.epoch,
      [randomUUIDv7()],
    )
    expect(await answerTo(listed)).toEqual(invalid)
  })

  test('is good for another limit, and under the ring that its key is still in', async () => {
    for (const limit of [1, 2, 200])
      expect((await pullPage(own.installation, tenantId, { since: good, limit })).data.length).toBeGreaterThan(0)
  })

  test('shows neither where it stands nor when it was made', async () => {
    const cursors = await Promise.all([1, 2].map(() => pullPage(own.installation, tenantId, { limit: 1 })))
    const [one, two] = cursors.map(({ next_since }) => next_since)
    expect(one).not.toBe(two)
    const [row] = await own.oracle<{ tx: string }[]>`
      select tx::text from outbox_event where tenant_id = ${tenantId} and type = ${pulledType} order by tx, seq limit 1`
    const bytes = Buffer.from(one!, 'base64url').toString('latin1')
    for (const told of [row!.tx, own.installation.identity.epoch, tenantId]) expect(bytes).not.toContain(told)
  })
})

describe('410 gone is the answer to an authentic cursor', () => {
  const bound = { operation: 'pullEvents', scope: '', filters: { eventType: pulledType } }
  const cursorOf = (position: readonly string[], epoch = own.installation.identity.epoch) =>
    writeCursor(own.installation.keyring, { ...bound, scope: tenantId }, epoch, position)
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

  test('from before a recovery', async () => {
    expect(await answerTo(cursorOf(['9', '1', daysAgo(0)]))).toBe('answered')
    expect(await answerTo(cursorOf(['9', '1', daysAgo(0)], randomUUIDv7()))).toEqual(gone)
  })

  test('that is older than the window, to the day, whatever has happened since', async () => {
    const { outboxDays } = own.installation.config
    expect(outboxDays).toBe(30)
    expect(await answerTo(cursorOf(['9', '1', daysAgo(outboxDays - 0.01)]))).toBe('answered')
    expect(await answerTo(cursorOf(['9', '1', daysAgo(outboxDays + 0.01)]))).toEqual(gone)
  })

  test('behind which events were removed', async () => {
    await own.oracle`insert into outbox_watermark (tenant_id, tx) values (${tenantId}, '5')`
    expect(await answerTo(cursorOf(['6', '0', daysAgo(1)]))).toBe('answered')
    for (const [tx, seq] of [
      ['5', '0'],
      ['5', '99'],
      ['4', '99'],
    ] as const)
      expect(await answerTo(cursorOf([tx, seq, daysAgo(1)])), `${tx}/${seq}`).toEqual(gone)
    await own.oracle`delete from outbox_watermark`
  })
})
