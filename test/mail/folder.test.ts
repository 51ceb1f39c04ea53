/** Mails in the folder hold names and addresses: they go after 30 days, and with their workspace. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepMailFolder } from '../../src/core/areas/mail/folder.ts'
import { mailFolderOf } from '../../src/core/kernel/config/mail-settings.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let one: TestInstallation
beforeAll(async () => {
  one = await testInstallation()
})
afterAll(() => one.close())

const day = 86_400

/** Writes a mail of that age, in seconds. */
function written(tenantId: string, name: string, age: number): void {
  const folder = mailFolderOf(one.installation.config.mail, tenantId)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), 'To: Ada')
  const at = Date.now() / 1000 - age
  utimesSync(join(folder, name), at, at)
}

test('a sweep removes what is older than 30 days and what is left of workspaces that are gone', async () => {
  const { folder } = one.installation.config.mail
  await sweepMailFolder.run(one.installation, {}) // nothing was ever written
  const [kept, emptied] = [(await one.provision()).tenant.id, (await one.provision()).tenant.id]
  const gone = crypto.randomUUID()
  written(kept, 'old.eml', 31 * day)
  written(kept, 'new.eml', 29 * day)
  written(emptied, 'old.eml', 31 * day)
  written(gone, 'new.eml', 0)
  mkdirSync(join(folder, 'not-ours'))

  await sweepMailFolder.run(one.installation, {})

  expect(readdirSync(folder).sort()).toEqual([kept, 'not-ours'].sort())
  expect(readdirSync(join(folder, kept))).toEqual(['new.eml'])
  expect(existsSync(mailFolderOf(one.installation.config.mail, gone))).toBe(false)
})
