/** Groups from a terminal. people 2. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openParty, type Party } from '../groups/party.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

let party: Party
let home: Home
beforeAll(async () => {
  party = await openParty()
  home = temporaryHome({ SVC_API_URL: party.daemon.address, SVC_TOKEN: party.people.ADMIN.token })
})
afterAll(async () => {
  await party.close()
  home.remove()
})

test('a group is made, listed, filled, shown and emptied by its name', async () => {
  const { accountId } = party.people.VIEWER
  expect((await home.svc(['groups', 'list'])).stdout).toContain('There is no group')
  const made = await home.svc(['groups', 'create', 'De\u001b[31msign', '--description', 'Whoever draws', '--json'])
  expect(made.code).toBe(0)
  const { id, name } = JSON.parse(made.stdout)
  await party.give({ id }, 'MEMBER')
  const added = await home.svc(['groups', 'add', name, accountId])
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining(`${accountId} is in De`)])
  expect((await home.svc(['groups', 'add', id, accountId])).code).toBe(0)
  const listed = await home.svc(['groups', 'list', '--account', accountId])
  expect(listed.stdout).toMatch(/NAME +MEMBERS[\s\S]*sign +1 +Whoever draws/)
  const shown = await home.svc(['groups', 'show', name])
  expect(shown.stdout).toMatch(new RegExp(`MEMBER +the workspace[\\s\\S]*${accountId}[\\s\\S]*DIRECT`))
  for (const text of [listed.stdout, shown.stdout, added.stderr]) expect(text).not.toContain('\u001b[31m')
  expect((await home.svc(['groups', 'add', name, `${accountId}@people.example`])).stderr).toContain('is in De')
  const removed = await home.svc(['groups', 'remove', name, `${accountId}@people.example`])
  expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('is not in')])
  expect((await home.svc(['groups', 'show', id])).stdout).toContain('Nobody is in it')
})

test('what is refused ends the command with its code, and says what to do', async () => {
  const secret = await party.hub({ is_private: true })
  const group = await party.group([], { name: 'Directors' })
  await party.give(group, 'VIEWER', secret)
  for (const [args, code, says] of [
    [['groups', 'show', 'None'], 3, 'There is no group "None"'],
    [['groups', 'show', randomUUIDv7()], 3, ''],
    [['groups', 'create', 'DIRECTORS'], 5, 'Another group of the workspace has this name'],
    [['groups', 'add', 'Directors', party.people.ADMIN.accountId], 4, 'OWNER'],
  ] as const) {
    const ran = await home.svc([...args])
    expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
    expect(ran.stderr).toContain(says)
  }
})
