/** Links to files: for what sends no token. Spec: items 4, O10; 10, 10; docs/decisions/0351. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Media } from '../../src/core/contract/media/operations.ts'
import { writeTicket } from '../../src/core/kernel/request/ticket.ts'
import type { Person } from '../kit/people.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { code, type Files, openFiles, png } from './files.ts'

let files: Files
let media: Media
beforeAll(async () => {
  files = await openFiles()
  media = await files.file(png, { filename: 'point.png' })
})
afterAll(() => files.close())

const link = (ids: readonly string[], as: Person = files.people.MEMBER, more: object = {}) =>
  files.ask('POST /media:link', { media_ids: ids, ...more }, { as })
const urlOf = async (id = media.id, as?: Person) => (await link([id], as)).json.links[0].url as string
const get = (url: string, headers: Record<string, string> = {}) => files.daemon.call('GET', url, { headers })

describe('a link', () => {
  test('is followed without a token, in ranges too, for as long as it says', async () => {
    const { status, json } = await link([media.id])
    expect([status, json.links.length]).toEqual([200, 1])
    const [{ media_id, url, expires_at }] = json.links
    expect([media_id, Date.parse(expires_at) - Date.now() > 290_000]).toEqual([media.id, true])
    const whole = await get(url)
    expect([whole.status, whole.headers['content-type']]).toEqual([200, 'image/png'])
    expect(whole.headers['content-disposition']).toContain('inline; filename="point.png"')
    const part = await get(url, { range: 'bytes=1-3' })
    expect([part.status, part.text]).toEqual([206, 'PNG'])
    const saved = (await link([media.id], undefined, { disposition: 'ATTACHMENT' })).json.links[0].url
    expect((await get(saved)).headers['content-disposition']).toContain('attachment')
  })

  test('is made for what the caller sees alone, once for each file', async () => {
    const own = await files.file(someBytes(5), {}, files.people.COMMENTER)
    const { json } = await link([randomUUID(), media.id, own.id, media.id])
    expect(json.links.map((one: { media_id: string }) => one.media_id)).toEqual([media.id])
    expect(code(await link([]))).toEqual([422, 'request.invalid'])
    expect(code(await link(Array.from({ length: 101 }, () => randomUUID())))).toEqual([422, 'request.invalid'])
  })

  test('is of one file: with another id, changed, or made up it is 404, and without one 401', async () => {
    const url = await urlOf()
    const other = await files.file(someBytes(5))
    expect(code(await get(url.replace(media.id, other.id)))).toEqual([404, 'not_found'])
    expect(code(await get(`${url.slice(0, -2)}AA`))).toEqual([404, 'not_found'])
    expect(code(await get(`/api/v1/media/${media.id}/content?ticket=x`))).toEqual([404, 'not_found'])
    expect(code(await get(`/api/v1/media/${media.id}/content`))).toEqual([401, 'auth.unauthenticated'])
    const list = url.replace(`/media/${media.id}/content`, '/media')
    expect((await get(list)).status).toBe(401)
  })

  test('does not spoil a call that has a token', async () => {
    const url = `/api/v1/media/${media.id}/content?ticket=x`
    expect((await files.daemon.call('GET', url, { token: files.people.MEMBER.token })).status).toBe(200)
    expect(code(await files.daemon.call('GET', await urlOf(), { token: 'nonsense' }))).toEqual([
      401,
      'auth.unauthenticated',
    ])
  })

  test('ends by itself', async () => {
    const { keyring, identity } = files.installation
    const { MEMBER } = files.people
    const [credential] = await files.daemon.db.sql<{ id: string }[]>`
      select id from credential where account_id = ${MEMBER.accountId}`
    const made = (ms: number) =>
      writeTicket(
        keyring,
        { operation: 'getMediaContent', params: { mediaId: media.id } },
        {
          tenantId: files.tenantId,
          credentialId: credential?.id ?? '',
          epoch: identity.epoch,
          expiresAt: new Date(Date.now() + ms).toISOString(),
        },
      )
    expect((await get(`/api/v1/media/${media.id}/content?ticket=${made(60_000)}`)).status).toBe(200)
    expect(code(await get(`/api/v1/media/${media.id}/content?ticket=${made(-5_000)}`))).toEqual([404, 'not_found'])
  })

  test('ends with sight of the file, and with the account', async () => {
    const { sql } = files.daemon.db
    const who = await files.guest()
    await files.grant(null, who, 'VIEWER')
    const item = await files.item({}, files.people.MEMBER)
    const read = (await files.read(media)) as Media
    const attached = await files.ask(`PUT /items/${item.id}/attachments/${read.id}`, {}, { as: files.people.MEMBER })
    expect(attached.status).toBe(200)
    const url = await urlOf(media.id, who)
    expect((await get(url)).status).toBe(200)
    await files.ask(`DELETE /items/${item.id}/attachments/${media.id}`, undefined, { as: files.people.MEMBER })
    expect(code(await get(url))).toEqual([404, 'not_found'])
    await files.ask(`PUT /items/${item.id}/attachments/${read.id}`, {}, { as: files.people.MEMBER })
    expect((await get(url)).status).toBe(200)
    await sql`update account set state = 'DISABLED' where id = ${who.accountId}`
    expect(code(await get(url))).toEqual([404, 'not_found'])
  })

  test('ends with its token', async () => {
    const who = await files.guest()
    await files.grant(null, who, 'MEMBER')
    const own = await files.file(someBytes(9), {}, who)
    const url = await urlOf(own.id, who)
    expect((await get(url)).status).toBe(200)
    await files.daemon.db.sql`update credential set revoked_at = now() where account_id = ${who.accountId}`
    expect(code(await get(url))).toEqual([404, 'not_found'])
  })

  test('ends with a recovery, and with the workspace', async () => {
    const { sql } = files.daemon.db
    const url = await urlOf()
    const [{ epoch } = { epoch: '' }] = await sql<{ epoch: string }[]>`select epoch from installation`
    await sql`update installation set epoch = ${randomUUID()}`
    expect(code(await get(url))).toEqual([404, 'not_found'])
    await sql`update installation set epoch = ${epoch}`
    await sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${files.tenantId}`
    expect(code(await get(url))).toEqual([403, 'tenant_suspended'])
    await sql`update tenant set state = 'ACTIVE', suspended_at = null where id = ${files.tenantId}`
    expect((await get(url)).status).toBe(200)
  })
})
