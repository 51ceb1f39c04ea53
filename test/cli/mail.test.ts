/** `svc mail list` and `svc mail resend`, over the API and at the database. Decision 0371. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failureInWords } from '../../src/cli/render/mail.ts'
import { mailFailureReasons } from '../../src/core/contract/mail/operations.ts'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  const { token } = await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })
  home = temporaryHome({ SVC_API_URL: daemon.address, SVC_TOKEN: token })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})
beforeEach(() => daemon.db.sql`delete from pgboss.job`)

/** No worker runs in this test, so the rows stay as they are. */
async function planted(state: 'created' | 'retry' | 'active' | 'failed', output: object | null = null) {
  const { sql } = daemon.db
  const data = {
    tenantId: owner.tenantId,
    accountId: owner.accountId,
    noticeId: randomUUIDv7(),
    name: 'password_opened',
  }
  const [row] = await sql<{ id: string }[]>`
    insert into pgboss.job (name, data, state, started_on, retry_count, retry_limit, completed_on, start_after, output, policy)
    values ('send_mail', ${sql.json(data)}, ${state}::pgboss.job_state, ${state === 'created' ? null : new Date()}, 2, 16,
            ${state === 'failed' ? new Date() : null}, now() + interval '1 hour', ${output === null ? null : sql.json(output as never)}, 'standard')
    returning id`
  return row!.id
}

const refused = { reason: 'MAILBOX_REFUSED', step: 'RCPT TO', status: 550 }

describe.each(['api', 'database'] as const)('over the %s', (way) => {
  const svc = (...args: string[]) =>
    way === 'api'
      ? home.svc(['mail', ...args])
      : home.svc(['mail', ...args, '--recovery', '--while-serving'], {
          env: { ...databaseEnv(daemon.config), SVC_API_URL: '', SVC_TOKEN: '' },
        })

  test('lists what waits, is tried again and has failed, and how', async () => {
    const failed = await planted('failed', refused)
    await planted('retry', { reason: 'RELAY_UNREACHABLE', step: 'CONN', error: 'ECONNREFUSED' })
    const { code, stdout, stderr } = await svc('list')
    expect(code).toBe(0)
    for (const text of [
      'password_opened',
      'home',
      'RETRYING',
      'FAILED',
      failed,
      'the mailbox takes no mail: 550 to RCPT TO',
    ])
      expect(stdout).toContain(text)
    expect(stdout).toContain('the relay was not reached (at CONN): ECONNREFUSED')
    expect(stderr).toContain('mail resend` tries again at once')
    const found = async (...args: string[]) =>
      JSON.parse((await svc('list', ...args, '--json')).stdout).data.map(({ state }: { state: string }) => state)
    expect(await found('--state', 'FAILED', '--kind', 'password_opened', '--workspace', 'home')).toEqual(['FAILED'])
    expect(await found('--kind', 'invitation')).toEqual([])
    expect((await svc('list', '--kind', 'invitation')).stdout).toBe('No such mail waits or has failed.\n')
    expect((await svc('list', '--max', '1')).stderr).toContain('--max shows more')
    expect(await svc('list', '--kind', 'invitations')).toMatchObject({ code: 2, stdout: '' })
    expect(await svc('list', '--workspace', 'nowhere')).toMatchObject({ code: 3, stdout: '' })
  })

  test('sends one again, and says what to look at next', async () => {
    const id = await planted('failed', refused)
    const ran = await svc('resend', id)
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringMatching(/is due now.*mail list/) })
    expect(JSON.parse((await svc('resend', id, '--json')).stdout)).toMatchObject({ id, state: 'RETRYING' })
    const active = await planted('active')
    expect(await svc('resend', active)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('being sent right now'),
    })
    expect(await svc('resend', randomUUIDv7())).toMatchObject({ code: 3 })
  })

  test('sends all of a state again, up to --max; --dry-run sends none', async () => {
    const ids = [await planted('failed'), await planted('failed'), await planted('failed')]
    await planted('created')
    const dry = JSON.parse((await svc('resend', '--state', 'FAILED', '--dry-run', '--json')).stdout)
    expect(dry).toEqual({
      chosen: expect.toSatisfy((all: string[]) => all.toSorted().join() === ids.toSorted().join()),
      over: 0,
    })
    const some = await svc('resend', '--state', 'FAILED', '--max', '2')
    expect(some).toMatchObject({
      code: 8,
      stdout: 'Due now: 2.\n',
      stderr: expect.stringContaining('more than --max 2 match'),
    })
    expect(await svc('resend', '--state', 'FAILED', '--workspace', 'home')).toMatchObject({
      code: 0,
      stdout: 'Due now: 1.\n',
    })
    await planted('active')
    const busy = await svc('resend', '--state', 'SENDING')
    expect(busy).toMatchObject({
      code: 8,
      stdout: expect.stringMatching(/Due now: 0\.\nRefused: \S+ \(mail\.under_way\)\./),
    })
  })

  test('one mail, or a state: not both, and not neither', async () => {
    for (const args of [['resend'], ['resend', randomUUIDv7(), '--state', 'FAILED']])
      expect(await svc(...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Name one mail, or a --state.'),
      })
  })
})

test('every reason has words', () => {
  for (const reason of mailFailureReasons)
    for (const error of [null, 'ECONNRESET']) {
      const words = failureInWords({ reason, step: 'DATA', status: 552, error })
      expect(words).toMatch(/^[a-zE]/)
      expect(words).not.toContain('null')
    }
})
