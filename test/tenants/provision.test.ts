/** Provisioning: what a new workspace has, who is let in, what is refused. Spec: Admin: workspaces, rule 1; decisions 4. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { freshSlug, provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const { provisionTenant, listTenants } = operations

describe.each(modes)('provisioning, by %s', (mode) => {
  const provision = (more: Parameters<typeof provisionBody>[1] = {}, slug = freshSlug()) =>
    who[mode].call(provisionTenant, { body: provisionBody(slug, more) })

  test('the answer is the workspace, its owner, the token and where the board is', async () => {
    const slug = freshSlug()
    const made = await provision(
      { default_locale: 'de-AT', default_time_zone: 'Europe/Vienna', owner_display_name: 'Ö. Wner' },
      slug,
    )
    expect(made.tenant).toMatchObject({
      slug,
      display_name: `Workspace ${slug}`,
      state: 'ACTIVE',
      default_locale: 'de-AT',
      default_time_zone: 'Europe/Vienna',
      account_count: 1,
      hold_count: 0,
      suspended_at: null,
      purge_started_at: null,
      password_opening: null,
      version: 1,
    })
    expect(made.owner).toMatchObject({ email: `owner@${slug}.example`, display_name: 'Ö. Wner' })
    expect(made.redemption_token).toMatch(/^svci_[0-9A-Za-z]{49}$/)
    const days = (Date.parse(made.redemption_expires_at) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(13.9)
    expect(days).toBeLessThanOrEqual(14)
    expect((await who[mode].call(listTenants, { slug })).data).toEqual([made.tenant])
  })

  test('without locale and time zone it is English and UTC', async () => {
    const { tenant } = await provision({ default_locale: null })
    expect(tenant).toMatchObject({ default_locale: 'en', default_time_zone: 'UTC' })
  })

  test('the owner is invited, not active, and owns the workspace', async () => {
    const { owner } = await provision()
    const rows = await own.oracle`
      select a.kind, a.state, a.password_hash, m.role from account a join membership m on m.tenant_id = a.tenant_id and m.account_id = a.id
      where a.id = ${owner.account_id}`
    expect([...rows]).toEqual([{ kind: 'PERSON', state: 'INVITED', password_hash: null, role: 'OWNER' }])
  })

  test('it has a hub, in it a collection, and on that three buckets of which the last one is done, and four labels', async () => {
    const made = await provision()
    const { id } = made.tenant
    expect([
      ...(await own.oracle`select id, kind, parent_id, name from container where tenant_id = ${id} order by kind desc`),
    ]).toEqual([
      { id: made.hub_id, kind: 'HUB', parent_id: null, name: 'Home' },
      { id: made.collection_id, kind: 'COLLECTION', parent_id: made.hub_id, name: 'Example project' },
    ])
    expect([
      ...(await own.oracle`select container_id, name, is_done_bucket from bucket where tenant_id = ${id} order by rank collate "C"`),
    ]).toEqual([
      { container_id: made.collection_id, name: 'To do', is_done_bucket: false },
      { container_id: made.collection_id, name: 'In progress', is_done_bucket: false },
      { container_id: made.collection_id, name: 'Done', is_done_bucket: true },
    ])
    const labels = await own.oracle`select container_id, name from label where tenant_id = ${id} order by name`
    expect(labels.map(({ name }) => name as string)).toEqual(['Idea', 'Question', 'Urgent', 'Waiting'])
    expect(labels.every(({ container_id }) => container_id === made.collection_id)).toBe(true)
  })

  test.each([
    ['de', 'Start', 'Beispielprojekt', 'Erledigt', 'Dringend'],
    ['de-CH', 'Start', 'Beispielprojekt', 'Erledigt', 'Dringend'],
    ['fr', 'Accueil', 'Projet exemple', 'Terminé', 'Urgent'],
    ['es', 'Inicio', 'Proyecto de ejemplo', 'Hecho', 'Urgente'],
    ['it', 'Inizio', 'Progetto di esempio', 'Fatto', 'Urgente'],
    ['nl', 'Start', 'Voorbeeldproject', 'Klaar', 'Dringend'],
    ['pt-BR', 'Início', 'Projeto de exemplo', 'Concluído', 'Urgente'],
    ['pl', 'Start', 'Przykładowy projekt', 'Gotowe', 'Pilne'],
    ['sv', 'Start', 'Exempelprojekt', 'Klart', 'Brådskande'],
    ['da', 'Start', 'Eksempelprojekt', 'Færdig', 'Haster'],
    ['cs', 'Domů', 'Ukázkový projekt', 'Hotovo', 'Naléhavé'],
    ['ja', 'ホーム', 'サンプルプロジェクト', '完了', '至急'],
    ['fi', 'Home', 'Example project', 'Done', 'Urgent'], // known, but without words of its own: English
  ])('a workspace in %s speaks its language', async (locale, hub, collection, done, label) => {
    const { tenant } = await provision({ default_locale: locale })
    const names = async (rows: Promise<readonly object[]>) => (await rows).map((row) => (row as { name: string }).name)
    const { oracle } = own
    expect(await names(oracle`select name from container where tenant_id = ${tenant.id} order by kind desc`)).toEqual([
      hub,
      collection,
    ])
    expect(await names(oracle`select name from bucket where tenant_id = ${tenant.id} and is_done_bucket`)).toEqual([
      done,
    ])
    expect(await names(oracle`select name from label where tenant_id = ${tenant.id}`)).toContain(label)
  })

  test('a locale is kept in its canonical form', async () => {
    expect((await provision({ default_locale: 'pt-br' })).tenant.default_locale).toBe('pt-BR')
  })

  test('the journal names the workspace and who made it, once', async () => {
    const { tenant } = await provision()
    const rows =
      await own.oracle`select action, actor_kind, actor_account_id, via, workspace_slug, params from journal where workspace_id = ${tenant.id}`
    const byOperator = { actor_kind: 'ACCOUNT', actor_account_id: who.operator.accountId, via: 'API', params: {} }
    const atDatabase = {
      actor_kind: 'RECOVERY',
      actor_account_id: null,
      via: 'RECOVERY',
      params: { os_user: expect.stringMatching(/./), host: expect.stringMatching(/./) },
    }
    expect([...rows]).toEqual([
      { action: 'tenant.provisioned', workspace_slug: tenant.slug, ...(mode === 'api' ? byOperator : atDatabase) },
    ])
  })

  test('the trail of the workspace says so once, and names nobody', async () => {
    const { tenant, owner } = await provision()
    const rows =
      await own.oracle`select action, via, subject_id, params from audit_entry where tenant_id = ${tenant.id}`
    expect([...rows]).toEqual([
      {
        action: 'tenant.provisioned',
        via: mode === 'api' ? 'API' : 'RECOVERY',
        subject_id: tenant.id,
        params: { containers: 2, owner: owner.account_id },
      },
    ])
  })

  test('one event for each thing that was made, as a CloudEvent, without the token', async () => {
    const made = await provision()
    const rows = await own.oracle<{ id: string; type: string; body: string }[]>`
      select id, type, body from outbox_event where tenant_id = ${made.tenant.id}`
    const types = Object.entries(Object.groupBy(rows, ({ type }) => type)).map(([type, list]) => [type, list?.length])
    expect(Object.fromEntries(types)).toEqual({
      'svc.work.tenant.provisioned.v1': 1,
      'svc.identity.account.invited.v1': 1,
      'svc.work.container.created.v1': 2,
      'svc.work.bucket.created.v1': 3,
      'svc.work.label.created.v1': 4,
    })
    for (const { id, type, body } of rows) {
      expect(JSON.parse(body)).toMatchObject({ specversion: '1.0', id, type, source: `/tenants/${made.tenant.id}` })
      expect(body).not.toContain('svci_')
    }
  })

  test('a job that ends the invitation waits for its last moment', async () => {
    const made = await provision()
    const jobs = await own.oracle<{ name: string; start_after: Date }[]>`
      select name, start_after from pgboss.job where data->>'tenantId' = ${made.tenant.id}`
    expect(jobs.map(({ name }) => name)).toEqual(['end_invitation'])
    expect(jobs[0]?.start_after.toISOString()).toBe(made.redemption_expires_at)
  })

  test('the token is answered and kept nowhere: the database has its hash', async () => {
    const made = await provision()
    const [row] = await own.oracle<{ hash: Buffer }[]>`select hash from invitation where tenant_id = ${made.tenant.id}`
    expect(row?.hash).toHaveLength(32)
    const again = await provision().catch(() => undefined)
    expect(again?.redemption_token).not.toBe(made.redemption_token)
  })

  test('one Idempotency-Key makes one workspace, and answers alike', async () => {
    const idempotencyKey = randomUUID()
    const body = provisionBody()
    const first = await who[mode].call(provisionTenant, { body, idempotencyKey })
    expect(
      await who[mode].call(provisionTenant, { body, idempotencyKey: `"${idempotencyKey.toUpperCase()}"` }),
    ).toEqual(first)
    await expect(
      who[mode].call(provisionTenant, { body: { ...body, display_name: 'Other' }, idempotencyKey }),
    ).rejects.toMatchObject({ code: 'idempotency.key_reused', status: 422 })
    expect(await own.oracle`select id from tenant where slug = ${body.slug}`).toHaveLength(1)
  })

  test('a stored refusal is answered again, even when its reason is gone', async () => {
    const idempotencyKey = randomUUID()
    const taken = await provision()
    const body = provisionBody(taken.tenant.slug)
    const again = () => who[mode].call(provisionTenant, { body, idempotencyKey })
    await expect(again()).rejects.toMatchObject({ code: 'admin.slug_taken' })
    await own.oracle`update tenant set slug = ${freshSlug('moved')} where id = ${taken.tenant.id}`
    await expect(again()).rejects.toMatchObject({
      code: 'admin.slug_taken',
      headers: { 'idempotency-replayed': 'true' },
    })
  })

  test('a key that is no UUID is malformed', async () => {
    await expect(
      who[mode].call(provisionTenant, { body: provisionBody(), idempotencyKey: 'again' }),
    ).rejects.toMatchObject({
      code: 'request.malformed',
      status: 400,
      errors: [{ parameter: 'Idempotency-Key' }],
    })
  })

  describe('slugs', () => {
    test('a taken one is refused', async () => {
      const { tenant } = await provision()
      await expect(provision({}, tenant.slug)).rejects.toMatchObject({ code: 'admin.slug_taken', status: 409 })
    })

    test('of 20 at once that want the same one, one gets it', async () => {
      const slug = freshSlug('race')
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => provision({}, slug)))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'admin.slug_taken' })
      expect(await own.oracle`select 1 from tenant where slug = ${slug}`).toHaveLength(1)
    })

    test.each(['www', 'api', 'admin', 'app', 'mail', 'static'])('%s is reserved', async (slug) => {
      await expect(provision({}, slug)).rejects.toMatchObject({
        code: 'request.invalid',
        status: 422,
        errors: [{ pointer: '/slug', code: 'slug.reserved' }],
      })
    })

    test('one of a workspace that was purged lately is blocked, and free when the time is over', async () => {
      const slug = freshSlug('purged')
      await own.oracle`insert into blocked_slug (slug, until) values (${slug}, now() + interval '1 hour')`
      await expect(provision({}, slug)).rejects.toMatchObject({ code: 'admin.slug_taken' })
      await own.oracle`update blocked_slug set until = now() - interval '1 second' where slug = ${slug}`
      expect((await provision({}, slug)).tenant.slug).toBe(slug)
    })

    test.each(['ab', 'a'.repeat(41), '-abc', 'Abc', 'a_b', 'a.bc', 'größe', 'аbc', 'abc\n', ''])(
      '%j is refused by its form',
      async (slug) => {
        await expect(provision({ owner_email: 'owner@slug.example' }, slug)).rejects.toMatchObject({
          code: 'request.invalid',
          errors: [{ pointer: '/slug' }],
        })
      },
    )

    test.each(['abc', '0ab', 'a--', 'z'.repeat(40)])('%j is within the bounds', async (slug) => {
      await own.oracle`update tenant set slug = ${freshSlug('aside')} where slug = ${slug}`
      expect((await provision({}, slug)).tenant.slug).toBe(slug)
    })
  })

  test.each([
    ['/default_locale', { default_locale: 'xx-nowhere' }],
    ['/default_locale', { default_locale: 'not a tag' }],
    ['/default_time_zone', { default_time_zone: 'Europe/Nowhere' }],
    ['/default_time_zone', { default_time_zone: '+02:00' }],
    ['/owner_email', { owner_email: 'nobody' }],
    ['/owner_email', { owner_email: `${'a'.repeat(250)}@b.example` }],
    ['/display_name', { display_name: '' }],
    ['/display_name', { display_name: '\u{1F600}'.repeat(201) }],
    ['/display_name', { display_name: 'a\u0000b' }],
    ['/display_name', { display_name: 'a\ud800b' }],
    ['/owner_display_name', { owner_display_name: '' }],
    ['/state', { state: 'SUSPENDED' }],
    ['/tenant_id', { tenant_id: randomUUID() }],
  ])('a body wrong at %s (%j) is refused, naming the member and not its value', async (pointer, more) => {
    const slug = freshSlug()
    const refused = await provision(more as object, slug).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'request.invalid', status: 422, errors: [{ pointer }] })
    const value = Object.values(more)[0] as string
    if (value !== '') expect(JSON.stringify((refused as { errors: unknown }).errors)).not.toContain(value)
    expect(await own.oracle`select 1 from tenant where slug = ${slug}`).toHaveLength(0)
  })

  test('a name of 200 emoji is kept to the letter', async () => {
    const name = '\u{1F600}'.repeat(200)
    expect((await provision({ display_name: name })).tenant.display_name).toBe(name)
  })
})
