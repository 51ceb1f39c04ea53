/** Who is told by mail that the register, the settings or the installation's backup targets changed. Spec: decisions 7, Probation. */
import { randomUUIDv7 } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { settleSettings } from '../../src/core/areas/settings/enforcing-file.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { freshSlug } from '../kit/installation.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { plantProof } from '../kit/proofs.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const { addOperator, createBackupTarget, deleteBackupTarget, removeOperator, replaceSettings } = operations
const patience = { timeout: 20_000 }

let relay: SmtpRelay
let house: Mailing
let who: Callers
/** An operator in another workspace, which reads in German. */
let other: Person
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({ SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`, SVC_MAIL_FROM: 'svc@mail.example' })
  who = await callers(house.test)
})
afterAll(async () => {
  await who.close()
  await house.end()
  await relay.close()
})
beforeEach(async () => {
  const { oracle } = house.test
  await oracle`delete from operator where account_id <> ${who.operator.accountId}`
  other = await joinedWorkspace(house.test, freshSlug('reader'))
  await oracle`update tenant set default_locale = 'de' where id = ${other.tenantId}`
  await oracle`insert into operator (account_id, workspace_id) values (${other.accountId}, ${other.tenantId})`
})

const subjectsOf = (address: string) => relay.takenBy(address).map(({ mail }) => mail.subject ?? '')
const arrives = (address: string, subject: string) =>
  expect.poll(() => subjectsOf(address), patience).toContain(subject)
const textOf = (address: string, subject: string) =>
  relay.takenBy(address).find(({ mail }) => mail.subject === subject)?.mail.text

test('an entry and a removal: every operator with an address, the one who did it and the removed one included', async () => {
  const entered = await joinedWorkspace(house.test)
  await plantAccount(house.test, other.tenantId, 'MEMBER', 'SERVICE').then(({ accountId }) =>
    who.recovery.call(addOperator, { body: { account_id: accountId } }),
  )
  await who.api.call(addOperator, { body: { account_id: entered.accountId } })
  const added = `Operator added: ${entered.email}`
  await arrives(who.operator.email, added)
  await arrives(other.email, `Betreiberkonto eingetragen: ${entered.email}`)
  await arrives(entered.email, added)
  const text = textOf(who.operator.email, added)
  expect(text).toContain(`${entered.email} of the workspace ${entered.slug} was added to the operator register on `)
  expect(text).toContain(`by ${who.operator.email}.`)
  expect(text).toContain('docs/runbooks/operators.md')

  await who.api.call(removeOperator, { accountId: entered.accountId })
  for (const address of [who.operator.email, entered.email])
    await arrives(address, `Operator removed: ${entered.email}`)
  await arrives(other.email, `Betreiberkonto entfernt: ${entered.email}`)
})

test('whoever is removed right behind an entry still hears of both', async () => {
  const thief = await joinedWorkspace(house.test)
  await Promise.all([
    who.api.call(addOperator, { body: { account_id: thief.accountId } }),
    who.api.call(removeOperator, { accountId: other.accountId }),
  ])
  await arrives(other.email, `Betreiberkonto entfernt: ${other.email}`)
  await arrives(who.operator.email, `Operator added: ${thief.email}`)
})

test('an entry that changes nothing, and a refused one, bring no mail; the end of a probation does', async () => {
  const entered = await joinedWorkspace(house.test)
  const body = { account_id: entered.accountId }
  const queued = async () =>
    (await house.test.oracle`select count(*)::int as count from pgboss.job where name = 'send_mail'`)[0]?.['count']
  await who.api.call(addOperator, { body })
  const before = await queued()
  await who.api.call(addOperator, { body })
  await expect(who.api.call(addOperator, { body: { account_id: randomUUIDv7() } })).rejects.toBeDefined()
  expect(await queued()).toBe(before)
  await who.recovery.call(addOperator, { body })
  expect(await queued()).toBe(before + 3)
})

test('the settings: what moved, by an operator and by the enforcing file; nothing where nothing moved', async () => {
  const subject = 'Installation settings changed'
  const body = { sign_in: { password_min_length: { value: 14 } } }
  await who.api.call(replaceSettings, { body })
  await who.api.call(replaceSettings, { body })
  for (const [address, told] of [
    [who.operator.email, subject],
    [other.email, 'Einstellungen der Installation geändert'],
  ] as const)
    await arrives(address, told)
  expect(textOf(who.operator.email, subject)).toContain(`by ${who.operator.email}: sign_in.password_min_length.`)

  const { installation } = house.test
  const file = join(installation.config.dataDir, 'settings.yaml')
  writeFileSync(file, 'sign_in:\n  password_min_length:\n    value: 15\n')
  const enforced = { ...installation, config: { ...installation.config, settingsFile: file } }
  await settleSettings(enforced)
  await settleSettings(enforced)
  const texts = () =>
    relay.takenBy(who.operator.email).flatMap(({ mail }) => (mail.subject === subject ? [mail.text] : []))
  await expect.poll(() => texts().length, patience).toBe(2)
  expect(texts().join()).toContain('by SVC_SETTINGS_FILE: sign_in.password_min_length.')
})

test("the installation's backup targets, and no workspace's", async () => {
  const body = { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } } as const
  const target = await who.recovery.call(createBackupTarget, { body })
  await who.recovery.call(deleteBackupTarget, { targetId: target.id })
  for (const subject of ['Backup target added', 'Backup target removed']) {
    await arrives(who.operator.email, subject)
    expect(textOf(who.operator.email, subject)).toContain(`LOCAL ${target.id}`)
    expect(textOf(who.operator.email, subject)).toMatch(/by \S+@\S+: LOCAL/)
  }

  const told = subjectsOf(who.operator.email).length
  const { id, token } = await plantToken(house.test, other, { scopes: ['workspace:admin'] })
  const stepUp = await plantProof(house.test.oracle, { ...other, credentialId: id })
  const s3 = { endpoint: 'https://s3.example.org', region: 'r', bucket: 'backups', access_key_id: 'A' }
  await who.as(token).call(createBackupTarget, {
    body: { name: 'own', kind: 'S3', config: { ...s3, secret_access_key: 's' } },
    stepUp,
  })
  await who.recovery.call(addOperator, { body: { account_id: (await joinedWorkspace(house.test)).accountId } })
  await expect.poll(() => subjectsOf(who.operator.email).length, patience).toBe(told + 1)
})
