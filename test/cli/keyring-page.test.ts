/** docs/keyring.md, tried as written: its commands, in their order, on a daemon that runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { keyringIn } from '../kit/keyrings.ts'
import { type Person, person } from '../kit/people.ts'
import { countsIn, type Stored, storeMany, wrongAmong } from '../kit/sealed.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/keyring.md'), 'utf8')
/** The lines of its command blocks, without remarks. */
const commands = [...page.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)]
  .flatMap(([, , language, block = '']) => (language === '' ? block.split('\n') : []))
  .map((line) => line.replace(/#.*/, '').trim())
  .filter((line) => line !== '')

let own: TestInstallation
let daemon: SpawnedDaemon
let home: Home
let operator: Person
beforeAll(async () => {
  own = await testInstallation()
  daemon = await spawnDaemon({ ...own.env, SVC_PORT: '0', SVC_SETUP_TOKEN: 'a-token-for-the-tests' })
  operator = await firstOperator()
  home = temporaryHome({ ...own.env, SVC_API_URL: daemon.address, SVC_TOKEN: operator.token })
}, 60_000)
afterAll(async () => {
  home.remove()
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await own.close()
})

/** The first workspace over the API, and a token in its database. */
async function firstOperator(): Promise<Person> {
  const response = await fetch(`${daemon.address}/api/v1/auth/installation:set-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      set_up_token: 'a-token-for-the-tests',
      workspace: { slug: 'home', display_name: 'Home' },
      owner: { email: 'owner@home.example', display_name: 'Olga', password: 'correct horse battery' },
    }),
  })
  const { tenant } = (await response.json()) as { tenant: { id: string } }
  return person({ db: { sql: own.oracle } } as Parameters<typeof person>[0], tenant.id, { operator: true })
}

async function hangUp(): Promise<void> {
  const before = daemon.stderr().length
  daemon.process.kill('SIGHUP')
  await expect.poll(() => daemon.stderr().slice(before), { timeout: 10_000 }).toContain('the keyring was read again')
}

test('its commands, one after the other', async () => {
  const stored: Stored = new Map()
  await storeMany(own.installation, stored, operator.tenantId, 600)
  const { current: old } = keyringIn(own.env['SVC_KEYRING_FILE']!)
  let added = ''
  const ran: string[] = []
  for (const line of commands) {
    const [program, ...words] = line.split(/\s+/)
    ran.push(`${program} ${words[0]} ${words[1] ?? ''}`.trim())
    if (program === 'kill') {
      await hangUp()
      continue
    }
    expect(program).toBe('svc')
    const args = words.map((word) => (word === 'k20261120-7f3a' ? added : word === 'k20261120' ? old : word))
    const { code, stdout, stderr } = await home.svc(args)
    expect([line, code, stderr]).toEqual([line, 0, expect.any(String)])
    if (line === 'svc keyring add') added = stdout.trim()
  }
  expect(ran).toEqual([
    'svc keyring show',
    'svc encryption status',
    'svc keyring add',
    'kill -HUP PID',
    'svc keyring promote',
    'kill -HUP PID',
    'svc encryption reseal',
    'svc encryption retire',
  ])
  const keyring = keyringIn(own.env['SVC_KEYRING_FILE']!)
  expect([keyring.current, Object.keys(keyring.keys)]).toEqual([added, [added]])
  expect(Object.keys(await countsIn(own.oracle))).toEqual([added])
  await own.rereadKeyring()
  expect(await wrongAmong(own.installation, stored)).toEqual([])
}, 120_000)
