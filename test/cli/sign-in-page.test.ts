/** docs/sign-in.md, tried as written: the commands about passwords, the second factor and explanations, in their order. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeAt } from '../kit/authenticator.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/sign-in.md'), 'utf8')

let daemon: TestDaemon
let owner: Owner
let home: Home
beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon, 'acme')
  home = temporaryHome({ SVC_API_URL: daemon.address })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

/** A command of the page that begins so, with the person of this test; it has to be there. */
function written(start: string): string {
  const line = page.split('\n').find((one) => one.trim().startsWith(start) || one.includes(`\`${start}\``))
  expect(line, `${start} is on the page`).toBeDefined()
  const [, inline] = /`(svc [^`]+)`/.exec(line ?? '') ?? []
  const command = (line ?? '').startsWith('    ') ? (line ?? '').trim() : (inline ?? '')
  return command.replaceAll('ada@acme.example', owner.email)
}

/** Its words, as a shell would part them. */
const words = (command: string) =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1)

const enter = '\r'
const forget = () => daemon.db.sql`update second_factor set last_step = 0 where confirmed_at is not null`
const typedPassword = `correct horse battery${enter}`
const password = ['password again', typedPassword] as const

/** Runs the line itself, redirections and all. */
const inShell = (line: string, typed = '') =>
  new Promise<number | null>((done) => {
    const bin = join(home.folder, 'bin')
    mkdirSync(bin, { recursive: true })
    try {
      symlinkSync(join(import.meta.dirname, '../../bin/svc'), join(bin, 'svc'))
    } catch {
      // it is there from the line before
    }
    const { HOME, PATH } = process.env
    const env = { HOME, PATH: `${bin}:${PATH}`, XDG_CONFIG_HOME: home.config, SVC_API_URL: daemon.address }
    const shell = spawn('sh', ['-c', line], { cwd: home.folder, env, stdio: ['pipe', 'ignore', 'ignore'] })
    shell.once('close', done)
    shell.stdin?.on('error', () => {}) // a command that ends without reading it
    shell.stdin?.end(typed)
  })

test('its commands, one after the other', async () => {
  const signedIn = await home.onTerminal(words(written('svc login --workspace acme')), [
    ['Password:', typedPassword],
    ['You are an operator', enter],
  ])
  expect(signedIn.code).toBe(0)

  const opened = await home.onTerminal(words(written('svc tenants open-password acme')), [password])
  expect([opened.code, opened.screen]).toEqual([0, expect.stringContaining('Mail ')])
  expect((await home.svc(words(written('svc tenants close-password acme')))).code).toBe(0)

  let secret = ''
  const enrolled = await home.onTerminal(words(written('svc mfa enroll')), [
    password,
    [
      'Code that the app shows',
      (screen) => {
        secret = /secret=([A-Z2-7]{32})/.exec(screen.replace(/\s/g, ''))?.[1] ?? ''
        return `${codeAt(secret)}${enter}`
      },
    ],
  ])
  expect([enrolled.code, enrolled.screen]).toEqual([0, expect.stringContaining('Recovery codes')])
  expect((await home.svc(words(written('svc mfa status')))).code).toBe(0)
  await forget()
  const removed = await home.onTerminal(words(written('svc mfa remove')), [
    [`Type ${owner.email} to confirm`, `${owner.email}${enter}`],
    password,
    ['Code of your authenticator app', () => `${codeAt(secret)}${enter}`],
  ])
  expect(removed.code).toBe(0)

  // Without a terminal: the lines as they stand.
  expect(await inShell(written('(umask 077; cat > me.password)'), `${owner.password}\n`)).toBe(0)
  expect(await inShell(written('svc mfa enroll --password-file'))).toBe(0)
  const begun = JSON.parse(readFileSync(join(home.folder, 'enrolment.json'), 'utf8')) as { secret: string }
  if ((await inShell('oathtool --version && jq --version')) === 0)
    expect(await inShell(written('oathtool --totp'))).toBe(0)
  else {
    console.error('Without oathtool and jq the test makes the code that docs/sign-in.md makes with them.')
    writeFileSync(join(home.folder, 'code'), `${codeAt(begun.secret)}\n`)
  }
  expect(await inShell(written('svc mfa confirm'))).toBe(0)
  expect(readFileSync(join(home.folder, 'codes.txt'), 'utf8').trim().split('\n')).toHaveLength(10)
  expect(await inShell(written('svc login --workspace acme --email ada@acme.example --password-file'))).toBe(0)

  const explained = await home.svc(words(written('svc signin explain acme')))
  expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('can sign in to acme')])
  const lost = words(written('svc mfa remove --recovery'))
  const env = databaseEnv(daemon.config)
  const helped = await home.svc([...lost, '--while-serving', '--confirm', owner.email], { env })
  expect([helped.code, helped.stderr]).toEqual([0, expect.stringContaining('Mail ')])
}, 180_000)
