/** A workspace's name, locale and time zone, as operators change them. Spec: ours; docs/decisions/0290. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, modes } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

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

const { getTenant, listTenants, suspendTenant, updateTenant } = operations

describe.each(modes)('by %s', (mode) => {
  let tenantId: string
  let slug: string
  beforeEach(async () => {
    ;({ tenantId, slug } = await joinedWorkspace(own))
  })
  const read = () => who[mode].call(getTenant, { tenantId })
  const change = (body: object, version = 1) =>
    who[mode].call(updateTenant, { tenantId, body, ifMatch: `"${version}"` })
  const traces = async () => {
    const { oracle } = own
    const [journal, trail, events] = await Promise.all([
      oracle`select actor_kind, workspace_slug, params from journal where workspace_id = ${tenantId} and action = 'tenant.changed'`,
      oracle`select params from audit_entry where tenant_id = ${tenantId} and action = 'tenant.changed'`,
      oracle`select body::jsonb -> 'data' as data from outbox_event where tenant_id = ${tenantId} and type = 'svc.work.tenant.changed.v1'`,
    ])
    return { journal: [...journal], trail: [...trail], events: events.map(({ data }) => data) }
  }

  test('one is read by its id as the list has it, and one that is not there is not found', async () => {
    const [listed] = (await who[mode].call(listTenants, { slug })).data
    expect(await read()).toEqual(listed)
    await expect(who[mode].call(getTenant, { tenantId: randomUUID() })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('what is named changes, what is absent stays, and one trace of each kind says which members', async () => {
    const before = await read()
    const changed = await change({ display_name: 'Acme & Sons', default_time_zone: 'Europe/Zurich' })
    expect(changed).toEqual({
      ...before,
      display_name: 'Acme & Sons',
      default_time_zone: 'Europe/Zurich',
      version: 2,
    })
    expect(await read()).toEqual(changed)
    const members = ['display_name', 'default_time_zone']
    expect(await traces()).toEqual({
      journal: [
        {
          actor_kind: mode === 'api' ? 'ACCOUNT' : 'RECOVERY',
          workspace_slug: slug,
          params: expect.objectContaining({ members }),
        },
      ],
      trail: [{ params: { members } }],
      events: [
        {
          id: tenantId,
          slug,
          display_name: 'Acme & Sons',
          default_locale: before.default_locale,
          default_time_zone: 'Europe/Zurich',
          previous: { display_name: before.display_name, default_time_zone: before.default_time_zone },
        },
      ],
    })
  })

  test('the same values again, and an empty patch, leave no version and no trace', async () => {
    const { display_name } = await read()
    expect(await change({ display_name })).toMatchObject({ version: 1 })
    expect(await change({})).toMatchObject({ version: 1 })
    expect(await traces()).toEqual({ journal: [], trail: [], events: [] })
  })

  test('a change against a version that is gone is refused and changes nothing', async () => {
    await change({ display_name: 'First' })
    await expect(change({ display_name: 'Second' }, 1)).rejects.toMatchObject({
      code: 'precondition.failed',
      status: 412,
    })
    expect(await read()).toMatchObject({ display_name: 'First', version: 2 })
  })

  test('a locale is stored in its canonical spelling; unknown ones and unknown zones are refused at their member', async () => {
    expect(await change({ default_locale: 'DE-ch' })).toMatchObject({ default_locale: 'de-CH' })
    for (const [member, value] of [
      ['default_locale', 'xx-nowhere'],
      ['default_time_zone', 'Mars/Olympus'],
      ['default_time_zone', '+02:00'],
    ] as const)
      await expect(change({ [member]: value }, 2)).rejects.toMatchObject({
        code: 'request.invalid',
        errors: [{ pointer: `/${member}` }],
      })
    expect(await read()).toMatchObject({ default_locale: 'de-CH', version: 2 })
  })

  test('a locale with another dictionary has search built anew, and one with the same has not', async () => {
    const generations = async () => [
      ...(await own.oracle`select language, state, at_kind from search_index where tenant_id = ${tenantId}`),
    ]
    await own.oracle`delete from search_index where tenant_id = ${tenantId}`
    await change({ default_locale: 'en-GB' })
    expect(await generations()).toEqual([])
    await change({ default_locale: 'de' }, 2)
    expect(await generations()).toEqual([{ language: 'german_stem', state: 'BUILDING', at_kind: null }])
    // One that is being built begins anew: what it has written is in the other language.
    await own.oracle`update search_index set at_kind = 'COMMENT' where tenant_id = ${tenantId}`
    await change({ default_locale: 'fr' }, 3)
    expect(await generations()).toEqual([{ language: 'french_stem', state: 'BUILDING', at_kind: null }])
  })

  test('a suspended workspace is changed, one that leaves is not', async () => {
    await who[mode].call(suspendTenant, { tenantId })
    expect(await change({ display_name: 'Asleep' }, 2)).toMatchObject({ state: 'SUSPENDED', version: 3 })
    await own.oracle`
      update tenant set state = 'PENDING_DELETION', state_before_deletion = 'ACTIVE', suspended_at = null,
                        deletion_requested_at = now(), purge_after = now() + interval '30 days'
      where id = ${tenantId}`
    await expect(change({ display_name: 'Gone' }, 3)).rejects.toMatchObject({ code: 'admin.tenant_leaving' })
  })
})
