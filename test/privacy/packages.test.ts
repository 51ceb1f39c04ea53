/**
 * Packages of personal data: all that names the person, and nobody else; to be fetched five times, for some days.
 * Keeping 2, K2 and Packages; abuse 2 and 4.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mediaStore } from '../../src/core/areas/media/store.ts'
import { ZipWriter } from '../../src/core/areas/privacy/packages/zip.ts'
import { furnish } from '../kit/leaving-workspace.ts'
import type { Person } from '../kit/people.ts'
import { entriesOf, fetchPackage } from './package-reader.ts'
import { type PrivacyHouse, privacyHouse } from './privacy-kit.ts'

let house: PrivacyHouse
let admin: Person
let who: Person
let other: Person
let collectionId: string
beforeAll(async () => {
  house = await privacyHouse()
  admin = await house.member({ role: 'ADMIN' })
  who = await house.member()
  other = await house.member()
  collectionId = house.collectionId
})
afterAll(() => house.close())

const fetched = (by: Person, id: string, range?: string) => fetchPackage(house, by, id, range)

async function refused(by: Person, id: string): Promise<[number, string]> {
  const { status, json } = await house.proven(by, 'GET', `/privacy/requests/${id}/package`)
  return [status, json.code]
}

async function granted(by: Person, kind: string): Promise<string> {
  const { json } = await house.proven(by, 'POST', '/privacy/requests', { kind })
  expect((await house.patch(admin, json.id, { decision: 'GRANTED' })).json).toMatchObject({ state: 'GRANTED' })
  return json.id
}

describe('a package', () => {
  test('holds what names the person and what the person did, and nobody else', async () => {
    await furnish(house.two, { id: house.tenantId, ownerId: who.accountId, collectionId })
    await house.sql`delete from tenant_quota where quota = 'items'`
    await house.sql`update account set display_name = 'Bandicoot', email = 'bandicoot@b.example', email_fold = 'bandicoot@b.example' where id = ${other.accountId}`
    const mine = (await house.call(who, 'POST', '/items', { container_id: collectionId, title: 'Mine of old' })).json
    await house.call(who, 'POST', `/items/${mine.id}/comments`, { body: 'what I said' })
    await house.call(other, 'POST', `/items/${mine.id}/comments`, { body: 'secret of Bandicoot' })
    await house.call(who, 'POST', `/items/${mine.id}:assign`, { account_id: other.accountId })
    const id = await granted(who, 'ACCESS')
    expect(await refused(who, id)).toEqual([409, 'privacy.package_not_ready'])
    await house.runJobs()

    const done = (await house.call(who, 'GET', `/privacy/requests/${id}`)).json
    expect(done).toMatchObject({ state: 'DONE', package: { size_bytes: expect.any(Number) } })
    const { status, bytes } = await fetched(who, id)
    expect(status).toBe(200)
    expect(bytes.byteLength).toBe(done.package.size_bytes)
    const entries = entriesOf(bytes)
    const about = JSON.parse(String(entries.get('about.json')))
    expect(about).toMatchObject({ kind: 'ACCESS', account_id: who.accountId, rights: expect.any(Array) })
    expect(Object.keys(about.files).sort()).toEqual(
      [...entries.keys()].filter((name) => name.endsWith('.jsonl')).sort(),
    )
    const all = [...entries.values()].map(String).join('\n')
    for (const word of ['Mine of old', 'what I said', who.accountId]) expect(all).toContain(word)
    for (const word of ['Bandicoot', 'bandicoot', other.accountId, house.owner.accountId])
      expect(all).not.toContain(word)
    const rows = (name: string) =>
      String(entries.get(`${name}.jsonl`))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    expect(rows('account')).toEqual([expect.objectContaining({ id: who.accountId })])
    expect(rows('account')[0]).not.toHaveProperty('password_hash')
    expect(rows('consents')).toMatchObject([{ kind: 'announcements', act: 'GIVEN' }])
    expect(rows('restrictions')).toMatchObject([{ ground: 'ACCURACY' }])
    for (const token of rows('tokens')) expect(token).not.toHaveProperty('hash')
    expect(rows('items')).toContainEqual(
      expect.objectContaining({ title: 'Mine of old', assignee_id: expect.stringMatching(/^person_\d+$/) }),
    )
    for (const entry of rows('trail'))
      if (entry.actor_account_id !== who.accountId) expect(entry).not.toHaveProperty('params')
  })

  test('of PORTABILITY holds what was provided alone', async () => {
    const id = await granted(who, 'PORTABILITY')
    await house.runJobs()
    const entries = entriesOf((await fetched(who, id)).bytes)
    expect([...entries.keys()]).toContain('items.jsonl')
    for (const name of ['trail', 'sessions', 'tokens', 'notifications'])
      expect(entries.has(`${name}.jsonl`)).toBe(false)
  })

  test('is the person’s: a stolen session needs a proof, and others get none', async () => {
    const id = await granted(other, 'ACCESS')
    await house.runJobs()
    const path = `/privacy/requests/${id}/package`
    expect((await house.call(other, 'GET', path)).json.code).toBe('auth.step_up_required')
    expect(await refused(who, id)).toEqual([404, 'not_found'])
    expect(await refused(admin, id)).toEqual([403, 'auth.role_required'])
    await house.sql`update account set state = 'DISABLED', disabled_at = now(), state_before = 'ACTIVE' where id = ${other.accountId}`
    expect((await fetched(admin, id)).status).toBe(200)
    await house.sql`update account set state = 'ACTIVE', disabled_at = null, state_before = null where id = ${other.accountId}`
    const [entries] = await house.sql`
      select count(*)::int as count from audit_entry where action = 'privacy_package.fetched' and subject_id = ${id}`
    expect(entries).toEqual({ count: 1 })
  })

  test('is gone after five fetches, or seven days', async () => {
    const id = await granted(who, 'ACCESS')
    await house.runJobs()
    for (let n = 0; n < 5; n += 1) expect((await fetched(who, id, 'bytes=0-3')).status).toBe(206)
    expect(await refused(who, id)).toEqual([410, 'privacy.package_gone'])
    await house.sql`update privacy_package set fetches = 0, expires_at = now() where request_id = ${id}`
    expect((await fetched(who, id)).status).toBe(410)
    expect((await house.call(who, 'GET', `/privacy/requests/${id}`)).json.package).toBeNull()
    const [note] = await house.sql`
      select extract(day from r.due_at - p.ready_at)::int as days from privacy_package p join media_removal r on r.media_id = p.file_id
      where p.request_id = ${id}`
    expect(note).toEqual({ days: 7 })
  })

  test('whose bytes are lost says so', async () => {
    const id = await granted(who, 'ACCESS')
    await house.runJobs()
    const [row] = await house.sql<{ file_id: string }[]>`select file_id from privacy_package where request_id = ${id}`
    await mediaStore(house.two.installation).remove({ tenantId: house.tenantId, mediaId: row!.file_id })
    expect((await refused(who, id))[1]).toBe('media.store_failed')
  })

  test('can be withdrawn before it is made', async () => {
    const id = await granted(admin, 'ACCESS')
    expect((await house.patch(admin, id, { state: 'WITHDRAWN' })).json.state).toBe('WITHDRAWN')
    await house.runJobs()
    expect(await house.sql`select 1 from privacy_package where request_id = ${id}`).toHaveLength(0)
  })
})

test('a zip is read by other programs, with names of any script and entries of no bytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-zip-'))
  try {
    const path = join(folder, 'a.zip')
    const file = await open(path, 'w')
    const zip = new ZipWriter(file)
    const bytes = async function* (...texts: string[]) {
      for (const text of texts) yield Buffer.from(text)
    }
    await zip.add('größe/名前.txt', bytes('a', 'b', 'c'.repeat(100_000)))
    await zip.add('empty.jsonl', bytes())
    await zip.add('stored.bin', bytes('stored'), { isPacked: true, size: 6 })
    await zip.end()
    await file.close()
    expect([...entriesOf(readFileSync(path)).keys()]).toEqual(['größe/名前.txt', 'empty.jsonl', 'stored.bin'])
    writeFileSync(
      join(folder, 'read.py'),
      `import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nz.extractall(sys.argv[2])\n`,
    )
    execFileSync('python3', [join(folder, 'read.py'), path, join(folder, 'out')])
    expect(readFileSync(join(folder, 'out', 'stored.bin'), 'utf8')).toBe('stored')
    expect(readFileSync(join(folder, 'out', 'größe', '名前.txt'), 'utf8')).toHaveLength(100_002)
    expect(readdirSync(join(folder, 'out'))).toHaveLength(3)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a request of somebody without an account has a package that says so', async () => {
  const { json } = await house.call(admin, 'POST', '/privacy/requests', { kind: 'ACCESS', subject: { name: 'Ann' } })
  const body = { identity: { state: 'VERIFIED', how: 'by letter' }, decision: 'GRANTED' }
  expect((await house.patch(admin, json.id, body)).json.state).toBe('GRANTED')
  await house.runJobs()
  const entries = entriesOf((await fetched(admin, json.id)).bytes)
  expect([...entries.keys()]).toEqual(['about.json'])
})
