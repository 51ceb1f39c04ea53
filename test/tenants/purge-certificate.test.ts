/** The purge certificate: signed, kept, and shown to be true by looking again. */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { mediaFolderOf } from '../../src/core/kernel/config/media-settings.ts'
import { type Furnished, furnished, overdue, pursued, rowsOf } from '../kit/leaving-workspace.ts'
import { ways as everyWay, type TwoWays, twoWays } from '../kit/two-ways.ts'

let ways: TwoWays
let gone: Furnished
let had: Record<string, number>
let labels: readonly string[]
beforeAll(async () => {
  ways = await twoWays()
  gone = await furnished(ways)
  await overdue(ways, gone)
  had = await rowsOf(ways.sql, gone.id)
  labels = (await ways.sql<{ id: string }[]>`select id from label where tenant_id = ${gone.id} order by id`).map(
    ({ id }) => id,
  )
  await pursued(ways.installation, gone.id)
  ways.clock.pass(3600)
  expect(await pursued(ways.installation, gone.id)).toBe('purged')
})
afterAll(() => ways.close())

const spki = Buffer.from('302a300506032b6570032100', 'hex')

interface CertificateDocument {
  readonly workspace: object
  readonly holds: { readonly checks: number; readonly in_force: number }
  readonly removed: readonly { readonly place: string; readonly count: number; readonly sha256: string }[]
  readonly [member: string]: unknown
}

describe.each(everyWay)('the certificate, by %s', (way) => {
  const get = () => ways.call(way, purgeOperations.getPurgeCertificate, { tenantId: gone.id })
  const check = () => ways.call(way, purgeOperations.verifyPurgeCertificate, { tenantId: gone.id })

  test('anybody can check its signature with the public key alone', async () => {
    const { document, signature } = await get()
    const key = createPublicKey({
      key: Buffer.concat([spki, Buffer.from(signature.public_key, 'base64url')]),
      format: 'der',
      type: 'spki',
    })
    const value = Buffer.from(signature.value, 'base64url')
    expect(verify(null, Buffer.from(document), key, value)).toBe(true)
    expect(verify(null, Buffer.from(document.replace('"count":1', '"count":2')), key, value)).toBe(false)
  })

  test('it says what was removed, under which checks, and when', async () => {
    const document = JSON.parse((await get()).document) as CertificateDocument
    expect(document).toMatchObject({ format: 'svc/purge-certificate/1', workspace: { id: gone.id, slug: gone.slug } })
    const { queued_jobs, ...counts } = Object.fromEntries(document.removed.map(({ place, count }) => [place, count]))
    expect(counts).toEqual(had)
    expect(queued_jobs).toBeGreaterThan(0)
    expect(Object.keys(counts).sort()).toEqual(Object.keys(workspaceTables).sort())
    expect(document.holds.in_force).toBe(0)
    expect(document.holds.checks).toBeGreaterThan(Object.keys(workspaceTables).length)
    const moments = ['deletion_requested_at', 'purge_started_at', 'purged_at', 'slug_blocked_until'].map((name) =>
      Date.parse(String(document[name])),
    )
    expect([...moments].sort((a, b) => a - b)).toEqual(moments)
  })

  test('its hash over the keys can be computed by whoever has them, from the format’s description alone', async () => {
    const document = JSON.parse((await get()).document) as CertificateDocument
    let link = createHash('sha256').update('label').digest()
    for (const id of labels) link = createHash('sha256').update(link).update(id).digest()
    expect(document.removed.find(({ place }) => place === 'label')).toEqual({
      place: 'label',
      count: 4,
      sha256: link.toString('hex'),
    })
  })

  test('it is found by the slug that is gone, and by nothing else', async () => {
    const { data } = await ways.call(way, purgeOperations.listPurgeCertificates, { slug: gone.slug })
    expect(data.map(({ tenant_id }) => tenant_id)).toEqual([gone.id])
    expect((await ways.call(way, purgeOperations.listPurgeCertificates, { slug: 'nobody' })).data).toEqual([])
    await expect(
      ways.call(way, purgeOperations.getPurgeCertificate, { tenantId: ways.home.tenantId }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  test('looked at again, it is genuine and nothing is left', async () => {
    const answer = await check()
    expect(answer).toMatchObject({ ok: true, findings: [] })
    expect(answer.scanned.map(({ place }) => place)).toEqual(
      expect.arrayContaining([
        ...Object.keys(workspaceTables),
        'tenant',
        'operator',
        'queued_jobs',
        'media_folder',
        'mail_folder',
      ]),
    )
    expect(answer.scanned.every(({ left }) => left === 0)).toBe(true)
  })

  test('whatever comes back is found, wherever it is', async () => {
    const folder = mediaFolderOf(ways.daemon.config.media, gone.id)
    mkdirSync(folder, { recursive: true })
    await ways.sql`insert into request_rate (tenant_id, paid_until) values (${gone.id}, now())`
    await ways.sql`insert into pgboss.job (name, data) values ('purge_due', ${ways.sql.json({ tenantId: gone.id })})`
    try {
      const { ok, findings } = await check()
      expect(ok).toBe(false)
      expect(findings.map(({ code, params }) => [code, params['place']])).toEqual([
        ['data.left', 'request_rate'],
        ['data.left', 'queued_jobs'],
        ['data.left', 'media_folder'],
      ])
    } finally {
      rmSync(folder, { recursive: true })
      await ways.sql`delete from request_rate where tenant_id = ${gone.id}`
      await ways.sql`delete from pgboss.job where data ->> 'tenantId' = ${gone.id}`
    }
  })

  test.each([
    [
      'a changed document',
      (s: typeof ways.sql) => s`update purge_certificate set document = replace(document, '"count":4', '"count":5')`,
      'signature.invalid',
    ],
    [
      'another key pair',
      (s: typeof ways.sql) => s`update purge_certificate set signature = sha512('x')`,
      'signature.invalid',
    ],
    [
      'a key that the ring lacks',
      (s: typeof ways.sql) => s`update purge_certificate set key_id = 'other'`,
      'signature.key_unknown',
    ],
    [
      'a journal without its entry',
      (s: typeof ways.sql) => s`delete from journal where action = 'tenant.purged'`,
      'journal.entries',
    ],
  ])('%s is found', async (_, alter, code) => {
    const { sql } = ways
    const certificates = await sql`select * from purge_certificate`
    const entries = await sql`select * from journal where action = 'tenant.purged'`
    await alter(sql)
    try {
      expect((await check()).findings.map((finding) => finding.code)).toEqual([code])
    } finally {
      await sql`delete from purge_certificate`
      for (const row of certificates) await sql`insert into purge_certificate ${sql(row)}`
      await sql`delete from journal where action = 'tenant.purged'`
      for (const row of entries) await sql`insert into journal ${sql({ ...row, params: sql.json(row['params']) })}`
    }
  })
})
