/** Nothing is served from a database of another release, nor with a ring that cannot open what is stored. Spec: decisions 4, Keyring; 6. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { queueNames } from '../../src/core/app/jobs.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import { migrate, SchemaError } from '../../src/core/kernel/database/migrate.ts'
import { migrationNames } from '../../src/core/kernel/database/migration-names.ts'
import { ConfigurationError } from '../../src/core/kernel/values/configuration-error.ts'
import { provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { changeKeyring as changeFile, type KeyringFile, newKey } from '../kit/keyrings.ts'

let own: TestInstallation
const closing: (() => Promise<void>)[] = []
beforeEach(async () => {
  own = await testInstallation()
  closing.push(own.close)
})
afterAll(async () => {
  for (const close of closing) await close()
})

const key = newKey
const changeKeyring = (change: (keyring: KeyringFile) => void) => changeFile(own.env['SVC_KEYRING_FILE']!, change)

/** What the last boot told people. */
let notes: string[]
/** Boots once more, and answers what it said. */
async function boot(): Promise<unknown> {
  notes = []
  const note = (line: string) => void notes.push(line)
  try {
    const booted = await bootInstallation(readConfig(own.env), { works: false, applicationName: 'svc-boot', note })
    await booted.close()
    return 'booted'
  } catch (error) {
    return error
  }
}

const refusal =
  (message: RegExp, kind: typeof ConfigurationError | typeof SchemaError = ConfigurationError) =>
  async () => {
    const said = await boot()
    expect(said).toBeInstanceOf(kind)
    expect((said as Error).message).toMatch(message)
    expect((said as Error).message).not.toContain('\n')
  }

test('a second boot finds the same installation', async () => {
  const read = () => own.oracle`select id, epoch from installation`
  const before = [...(await read())]
  expect(await boot()).toBe('booted')
  expect([...(await read())]).toEqual(before)
})

test('the same name with other bytes is refused, even while nothing is sealed', async () => {
  changeKeyring((keyring) => {
    keyring.keys[keyring.current] = key()
  })
  await refusal(/is not the key of that name/)()
})

test('a stored value whose key is gone is refused, naming the key and how many', async () => {
  for (let n = 0; n < 3; n += 1)
    await own.asRecovery(operations.provisionTenant, { body: provisionBody(), idempotencyKey: randomUUID() })
  changeKeyring((keyring) => {
    keyring.current = 'other'
    keyring.keys = { other: key() }
  })
  await refusal(/^3 stored value\(s\) need the key "k\d{8}"/)()
})

test('a new key beside the old one opens what was sealed before', async () => {
  const sent = { body: provisionBody(), idempotencyKey: randomUUID() }
  const made = await own.asRecovery(operations.provisionTenant, sent)
  changeKeyring((keyring) => {
    keyring.current = 'newer'
    keyring.keys['newer'] = key()
  })
  const booted = await bootInstallation(readConfig(own.env), { works: false, applicationName: 'svc-boot' })
  try {
    const { recoveryActor } = await import('../../src/core/kernel/values/actor.ts')
    const { performForAnswer } = await import('../../src/core/app/perform.ts')
    const again = await performForAnswer(booted.installation, operations.provisionTenant, recoveryActor(), sent)
    expect(again.redemption_token).toBe(made.redemption_token)
  } finally {
    await booted.close()
  }
})

test('a database that lacks a migration, or has one too many, is refused with the remedy', async () => {
  await own.oracle`insert into pgmigrations (name, run_on) values ('9999_from_the_future', now())`
  await refusal(/9999_from_the_future.*Run the newer release/, SchemaError)()
  await own.oracle`delete from pgmigrations where name = '9999_from_the_future' or name like '0006%'`
  await refusal(/lacks 1 migration.*0006_.*svc db migrate/, SchemaError)()
})

test('a database of a newer release is served where each migration that is new says that older code runs on it', async () => {
  await own.oracle`insert into pgmigrations (name, run_on, older_code_runs) values ('9998_an_addition', now(), true)`
  expect([await boot(), notes]).toEqual([
    'booted',
    ['A newer svc has migrated the database (9998_an_addition). This release may run on it for the time being.'],
  ])
  await own.oracle`
    insert into pgmigrations (name, run_on, older_code_runs) values ('9999_another_meaning', now(), false)`
  await refusal(/newer svc: it has 9999_another_meaning, which/, SchemaError)()
})

test('each migration is noted with what its header says of older code, also those that were run before it was noted', async () => {
  const read = () =>
    own.oracle<
      { name: string; older_code_runs: boolean }[]
    >`select name, older_code_runs from pgmigrations order by name`
  const noted = [...(await read())]
  expect(noted.map(({ name }) => name)).toEqual(migrationNames())
  const stops = (name: string) =>
    /^-- Old code {2}stops/m.test(readFileSync(join(import.meta.dirname, '../../migrations', `${name}.sql`), 'utf8'))
  expect(noted.filter(({ older_code_runs }) => !older_code_runs)).toEqual(noted.filter(({ name }) => stops(name)))
  expect(noted.find(({ name }) => name.startsWith('0030'))).toMatchObject({ older_code_runs: false })
  expect(noted.find(({ name }) => name.startsWith('0036'))).toMatchObject({ older_code_runs: true })
  await own.oracle`alter table pgmigrations drop column older_code_runs`
  expect(await boot()).toBe('booted')
  const { owner, daemon } = readConfig(own.env).database!
  await migrate(owner, daemon, queueNames)
  expect([...(await read())]).toEqual(noted)
})

test('a job without a queue is refused with the remedy: a release may bring one without a migration', async () => {
  await own.oracle`delete from pgboss.queue where name = 'end_invitation'`
  await refusal(/lacks the queue of the job end_invitation.*svc db migrate/, SchemaError)()
})
