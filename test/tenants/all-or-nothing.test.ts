/** Provisioning that fails at any of its steps leaves nothing, in any table. Spec: Admin: workspaces, rule 1; threats T-43. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { differences, dump } from '../kit/dump.ts'
import { provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  await own.provision() // starts the queue, whose own tables would change otherwise
  await own.oracle`
    create function refuse_row() returns trigger language plpgsql as $$ begin raise exception 'this step fails'; end $$`
})
afterAll(async () => {
  await who.close()
  await own.close()
})

/** What the token's use writes, off the caller's path. */
const isNoted = (row: string) => row.includes('planted')

async function changed(before: Map<string, string[]>): Promise<Record<string, string[]>> {
  const found = differences(before, await dump(own.oracle))
  const credentials = (found['public.credential'] ?? []).filter((row) => !isNoted(row))
  const { 'public.credential': _, ...rest } = found
  return credentials.length > 0 ? { ...rest, 'public.credential': credentials } : rest
}

const steps = [
  'idempotency_record',
  'journal',
  'tenant',
  'account',
  'account_address',
  'account_word',
  'membership',
  'invitation',
  'container',
  'bucket',
  'label',
  'audit_entry',
  'outbox_counter',
  'outbox_event',
  'search_pending',
  'pgboss.job',
  'sealed_value',
] as const

describe.each(modes)('by %s', (mode) => {
  test.each(steps)('when %s cannot be written, nothing is', async (table) => {
    const sent = { body: provisionBody(), idempotencyKey: randomUUID() }
    const before = await dump(own.oracle)
    await own.oracle.unsafe(
      `create trigger refuse_row before insert on ${table} for each row execute function refuse_row()`,
    )
    try {
      await expect(who[mode].call(operations.provisionTenant, sent)).rejects.toThrow(
        mode === 'api' ? 'internal' : /this step fails/,
      )
    } finally {
      await own.oracle.unsafe(`drop trigger refuse_row on ${table}`)
    }
    expect(await changed(before)).toEqual({})

    const made = await who[mode].call(operations.provisionTenant, sent)
    expect(made.tenant.slug).toBe(sent.body.slug)
  })

  test('these are all the tables a provisioning writes', async () => {
    const before = await dump(own.oracle)
    await who[mode].call(operations.provisionTenant, { body: provisionBody(), idempotencyKey: randomUUID() })
    const written = Object.keys(await changed(before)).map((name) => name.replace(/^public\./, ''))
    const isJobs = (name: string) => name.startsWith('pgboss.')
    expect(written.filter((name) => !isJobs(name)).sort()).toEqual(steps.filter((name) => !isJobs(name)).sort())
    expect(written.filter(isJobs)).toHaveLength(1)
  })
})
