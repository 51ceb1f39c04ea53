/** `svc settings`, in both modes, and docs/settings.md tried as written. Spec: decisions 4 and 6. */
import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aiDefaults, localisationDefaults, signInDefaults } from '../../src/core/contract/settings/defaults.ts'
import { root } from '../house/source.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

const page = readFileSync(join(root, 'docs/settings.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block)

let daemon: TestDaemon
let home: Home
let token: string
beforeAll(async () => {
  daemon = await testDaemon()
  const owner = await setUp(daemon)
  token = (await person(daemon, owner.tenantId, { operator: true })).token
  home = temporaryHome()
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})
beforeEach(async () => {
  await daemon.call('PUT', '/api/v1/admin/settings', { token, body: {} })
})
const file = (name: string, text: string) => {
  const path = join(home.folder, name)
  writeFileSync(path, text)
  return path
}

describe.each(['api', 'database'] as const)('by the %s', (way) => {
  const run = (...args: string[]): Promise<Ran> =>
    way === 'api'
      ? home.svc(args, { env: { SVC_API_URL: daemon.address, SVC_TOKEN: token } })
      : home.svc([...args, '--recovery', '--while-serving'], { env: databaseEnv(daemon.config) })

  test('shows, compares and applies; --json is the representation of the API, unchanged', async () => {
    const nothing = await run('settings', 'show')
    expect(nothing).toMatchObject({ code: 0, stdout: 'No setting is decided; every setting has its default.\n' })
    const path = file(
      'a.yaml',
      'sign_in: { password_min_length: { value: 14, locked: true, reason: policy 7 } }\nquotas: { items: 9223372036854775807 }\n',
    )
    const compared = await run('settings', 'diff', path)
    expect(compared).toMatchObject({ code: 8 })
    expect(compared.stderr).toContain('2 would change.')
    expect(compared.stdout).toMatch(/sign_in\.password_min_length +- +\{"value":14,"locked":true,"reason":"policy 7"\}/)
    expect(await run('settings', 'apply', path)).toMatchObject({ code: 0 })
    const shown = await run('settings', 'show')
    expect(shown.stdout).toMatch(/sign_in\.password_min_length +14 +yes +policy 7/)
    expect(shown.stdout).toMatch(/quotas\.items +9223372036854775807 +no/)
    const json = await run('settings', 'show', '--json')
    expect(json.stdout).toContain('9223372036854775807')
    expect(JSON.parse(json.stdout)).toEqual((await daemon.call('GET', '/api/v1/admin/settings', { token })).json)
    expect(await run('settings', 'diff', file('same.json', json.stdout))).toMatchObject({ code: 0 })
  })

  test('a file that breaks a rule is refused with every fault, before anybody is called', async () => {
    const path = file('b.yaml', 'sign_in: { nonsense: { value: 1 }, methods: { value: [SMS] } }\n')
    const refused = await run('settings', 'apply', path)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('/sign_in/nonsense: member.unknown')
    expect(refused.stderr).toContain('/sign_in/methods/value/0: value.one_of (values PASSWORD, PROVIDER)')
    expect((await run('settings', 'apply', join(home.folder, 'nowhere.yaml'))).stderr).toContain('There is no file ')
    const server = await run('settings', 'apply', file('c.yaml', 'localisation: { time_zone: Mars/Olympus }\n'))
    expect(server).toMatchObject({ code: 2 })
    expect(server.stderr).toContain('/localisation/time_zone')
    expect((await run('settings', 'show')).stdout).toContain('No setting is decided')
  })
})

describe('docs/settings.md', () => {
  const shell = (line: string) =>
    new Promise<{ code: number; out: string }>((resolve) =>
      execFile(
        'sh',
        ['-c', line],
        {
          cwd: home.folder,
          env: {
            ...process.env,
            PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
            SVC_API_URL: daemon.address,
            SVC_TOKEN: token,
          },
        },
        (error, stdout, stderr) =>
          resolve({ code: Number((error as { code?: number } | null)?.code ?? 0), out: stdout + stderr }),
      ),
    )

  test('its example and its commands do what it says', async () => {
    const [example = ''] = blocks('yaml')
    file('settings.yaml', example)
    const [first = '', second = ''] = blocks('sh')
    const [diff = '', ...rest] = first.trim().split('\n')
    expect((await shell(diff)).code).toBe(8)
    for (const line of [...rest, ...second.trim().split('\n')])
      expect(await shell(line), line).toMatchObject({ code: 0 })
    expect((await shell(diff)).code).toBe(0)
    const { json } = await daemon.call('GET', '/api/v1/admin/settings', { token })
    expect(json).toMatchObject({
      sign_in: { password_min_length: { value: 14, locked: true, reason: 'security policy 7' } },
      localisation: { locale: 'de-AT' },
      quotas: { items: 50000 },
    })
  })

  test('its table has every switch, with the default that counts', () => {
    const rows = new Map(
      [
        ...page
          .slice(page.indexOf('| Switch of'), page.indexOf('| Member |'))
          .matchAll(/^\| `([a-z_]+)` \| ([^|]*) \| ([^|]*) \|/gm),
      ].map(([, name = '', , value = '']) => [name, value.trim()]),
    )
    const said = (value: unknown) => (Array.isArray(value) ? 'both' : String(value))
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(signInDefaults).map(([name, value]) => [name, said(value)])),
    )
    expect(page).toContain(`${localisationDefaults.locale}, ${localisationDefaults.time_zone} |`)
    expect(page).toContain(`MONDAY, SATURDAY, SUNDAY | ${localisationDefaults.week_start} |`)
    expect(aiDefaults).toEqual({
      allowed_jurisdictions: ['SELF_HOSTED', 'EEA', 'ADEQUACY', 'THIRD_COUNTRY'],
      third_country_confirmed: false,
    })
  })

  test('SIGHUP makes the running command read its file again, and a broken file changes nothing', async () => {
    const path = file('enforcing.yaml', 'sign_in: { password_min_length: { value: 20 } }\n')
    const served = temporaryHome()
    const running = spawn(join(root, 'bin/svc'), ['daemon'], {
      cwd: served.folder,
      env: { ...process.env, ...databaseEnv(daemon.config), SVC_PORT: '0', SVC_SETTINGS_FILE: path },
    })
    let said = ''
    running.stdout.on('data', (piece: Buffer) => {
      said += piece.toString()
    })
    running.stderr.on('data', (piece: Buffer) => {
      said += piece.toString()
    })
    const patience = { timeout: 30_000 }
    const decided = async () =>
      (await daemon.call('GET', '/api/v1/admin/settings', { token })).json.sign_in?.password_min_length?.value
    await expect.poll(() => said, patience).toContain('listening on')
    expect(await decided()).toBe(20)
    writeFileSync(path, 'sign_in: { password_min_length: { value: 21 } }\n')
    process.kill(running.pid as number, 'SIGHUP')
    await expect.poll(decided, patience).toBe(21)
    writeFileSync(path, 'sign_in: { password_min_length: { value: [] } }\n')
    process.kill(running.pid as number, 'SIGHUP')
    await expect.poll(() => said, patience).toContain('/sign_in/password_min_length/value: value.type')
    expect(await decided()).toBe(21)
    running.kill('SIGTERM')
    await new Promise((resolve) => running.once('exit', resolve))
    const broken = await served.svc(['daemon'], {
      env: { ...databaseEnv(daemon.config), SVC_PORT: '0', SVC_SETTINGS_FILE: path },
    })
    expect(broken).toMatchObject({ code: 2, stdout: '' })
    expect(broken.stderr).toContain('/sign_in/password_min_length/value: value.type')
    expect(broken.stderr.trim().split('\n')).toHaveLength(1)
    served.remove()
    await daemon.db.sql`update installation set settings_file = null`
  }, 120_000)
})
