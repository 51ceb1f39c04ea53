/** docs/runbooks/privacy.md: Ada, an OWNER, handles what Mary asks. Mary has joined by docs/people.md. */
import { expect } from 'vitest'
import type { Ground } from '../ground.ts'
import type { Story } from '../story.ts'

const idIn = (said: string): string => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(said)?.[0] ?? ''
const account = async (ground: Ground) =>
  idIn(await ground.sql(`select id from account where email = 'mary@acme.example'`))
const request = async (ground: Ground, kind: string) =>
  idIn(await ground.sql(`select id from privacy_request where kind = '${kind}' order by id desc limit 1`))

/** Waits until the job has done its part: it begins with the request. */
async function settled(ground: Ground, question: string): Promise<void> {
  for (let tries = 0; !(await ground.sql(question)).includes('yes'); tries += 1) {
    expect(tries, question).toBeLessThan(300)
    await new Promise((next) => setTimeout(next, 300))
  }
}

const ofAccount = async (ground: Ground) => [['ACCOUNT_ID', await account(ground)]] as const
const ofRequest = (kind: string) => async (ground: Ground) => [['REQUEST_ID', await request(ground, kind)]] as const

export const privacy: Story = {
  page: 'docs/runbooks/privacy.md',
  steps: [
    { inline: 'svc privacy overdue', play: { shows: ['No request about personal data is overdue.'] } },
    {
      block: 'svc api POST /privacy/requests -f kind=ACCESS',
      play: { replace: ofAccount, shows: ['"state": "RECEIVED"', '"channel": "ENTERED"'] },
    },
    {
      block: 'svc api PATCH /privacy/requests/REQUEST_ID -F',
      play: { replace: ofRequest('ACCESS'), shows: ['"state": "VERIFIED"'] },
    },
    {
      block: 'svc api PATCH /privacy/requests/REQUEST_ID -f decision=GRANTED',
      play: {
        replace: ofRequest('ACCESS'),
        shows: ['"decision": "GRANTED"'],
        after: (ground) =>
          settled(ground, `select 'yes' where exists (select from privacy_package where state = 'READY')`),
      },
    },
    {
      block: 'svc api POST /privacy/requests -f kind=ERASURE',
      play: {
        replace: async (ground) => [
          ['ACCOUNT_ID', await account(ground)],
          ['REQUEST_ID', (said) => idIn(said.slice(said.lastIndexOf('"id"')))],
        ],
        shows: ['"kind": "ERASURE"', '"state": "VERIFIED"'],
        after: (ground) =>
          settled(ground, `select 'yes' where not exists (select from privacy_search where state = 'SEARCHING')`),
      },
    },
    {
      block: 'svc api GET /privacy/requests/REQUEST_ID/erasure-preview',
      play: {
        replace: ofRequest('ERASURE'),
        shows: ['"state": "DONE"', '"hash"'],
        after: (ground, _, said) => {
          hashes.set(ground, /"hash": "([^"]+)"/.exec(said)?.[1] ?? '')
        },
      },
    },
    {
      block: 'svc api PATCH /privacy/requests/REQUEST_ID -f decision=GRANTED -f plan_hash=HASH',
      play: {
        replace: async (ground) => [
          ['REQUEST_ID', await request(ground, 'ERASURE')],
          ['HASH', hashes.get(ground) ?? ''],
        ],
        shows: ['"state": "GRANTED"', '"executes_at"'],
        // Other pages go on with Mary.
        after: async (ground) =>
          ground.sql(
            `update privacy_request set state = 'WITHDRAWN', executes_at = null, closed_at = now() where kind = 'ERASURE'`,
          ),
      },
    },
  ],
}

const hashes = new WeakMap<Ground, string>()
