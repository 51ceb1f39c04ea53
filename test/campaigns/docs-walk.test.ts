/**
 * A person's walk at 60 columns, and with SVC_FAULTS=full at 80 and 160: provisioning, quotas, a suspended workspace, a failed
 * webhook, a key change, an export, and every list on the way. No list is wider than the terminal, and no day is cut. With
 * SVC_TEST_SCREENS=FOLDER the screens are written there, to be looked at.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asAda, type Ground, openGround } from '../docs/ground.ts'
import { deploying } from '../docs/stories/deploying.ts'
import { follow } from '../docs/story.ts'
import { type Receiver, receiver } from '../kit/receiver.ts'

const screensGo = process.env['SVC_TEST_SCREENS']
let ground: Ground
let target: Receiver
beforeAll(async () => {
  target = await receiver()
  target.respond((_, response) => response.writeHead(500).end('out of order'))
  ground = await openGround()
  const terminal = await ground.terminal({ env: {} })
  // Until the set-up.
  await follow({ ...deploying, steps: deploying.steps.slice(0, 4) }, ground, terminal)
  await terminal.close()
}, 120_000)
afterAll(async () => {
  await ground.remove()
  await target.close()
}, 60_000)

/** What is typed, in this order; `acme` is Ada's workspace. */
function stops(columns: number, collection: string): readonly string[] {
  const slug = `walk-${columns}`
  const hook = `${target.url}?at=${columns}`
  return [
    `svc tenants provision --slug ${slug} --display-name "Walking Company of ${columns}" --owner-email o@${slug}.example`,
    'svc tenants list',
    `svc tenants show ${slug}`,
    `svc tenants quotas set ${slug} items=5000 api_requests_per_minute=unlimited`,
    `svc tenants stats ${slug}`,
    `svc tenants suspend ${slug}`,
    'svc tenants list --state SUSPENDED',
    `svc tenants resume ${slug}`,
    `svc accounts invite charles-${columns}@acme.example --name "Charles Babbage"`,
    ...['accounts', 'sessions', 'tokens', 'operators', 'profiles'].map((list) => `svc ${list} list`),
    `svc groups create "Engineers of ${columns}"`,
    'svc groups list',
    `svc webhooks create "${hook}" --type 'work.*' --secret-file hook.secret`,
    `svc api POST /items -f container_id=${collection} -f title=Rocket --fields id,title`,
    'svc webhooks list',
    `svc deliveries list "${hook}"`,
    `svc deliveries why "$(svc deliveries list "${hook}" --jq '.data[0].id')"`,
    'svc deliveries stats',
    ...['keyring show', 'keyring add', 'encryption status'].map((one) => `svc ${one}`),
    `svc backup-targets add disk-${columns} --kind local --path archives-${columns}`,
    'svc backup-targets list',
    `svc tenants export acme --target disk-${columns} --wait`,
    `svc backup-targets backups disk-${columns}`,
    `svc backups create acme --target disk-${columns} --wait`,
    ...['backups list', 'journal', 'audit', 'status', 'doctor', 'settings show'].map((one) => `svc ${one}`),
    'svc signin explain acme ada@acme.example',
    `svc tenants delete ${slug} --plan`,
  ]
}

/**
 * Lines of tables that are longer than the terminal. Messages are not broken, nor is a word that people copy (a path, a hash);
 * what is drawn over itself has no length.
 */
const tooWide = (said: string, columns: number) =>
  said
    .split('\n')
    .slice(1, -1)
    .filter((line) => /^[A-Z*]|^ {2}|\S {2,}\S/.test(line) && !/[.!:]$|^\?|✔|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line))
    .filter((line) => [...line].length > columns && / (?! )/.test(line.trim().split(/ {2,}/).at(-1) ?? ''))

describe.each(process.env['SVC_FAULTS'] === 'full' ? [60, 80, 160] : [60])('at %i columns', (columns) => {
  test('every screen of the walk is whole', async () => {
    const ada = await asAda(ground, columns)
    const collection = await ground.sql(`select id from container where kind = 'COLLECTION' order by id limit 1`)
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(collection) ?? []
    const faults: string[] = []
    let screens = ''
    for (const line of stops(columns, id)) {
      const before = target.received.length
      const { said, code } = await ada.type(line)
      screens += `${said}\n`
      if (screensGo !== undefined) writeFileSync(join(screensGo, `walk-${columns}.txt`), screens)
      // Some of what doctor looks at is not there: the copies of the ledger are on one disk.
      if (code !== 0 && !(code === 8 && /doctor|status/.test(line))) faults.push(`${line} ended with ${code}: ${said}`)
      if (/^svc (?:[\w-]+ )*(?:list|stats|status|show|why|explain|journal|audit|doctor)\b/.test(line))
        faults.push(...tooWide(said, columns).map((one) => `${line} is too wide: ${one}`))
      if (/(?<![\w-])20\d\d-[\d-]{0,5}…/.test(said)) faults.push(`${line} cuts a day`)
      if (line.startsWith('svc api POST /items')) await target.until(before + 1)
    }
    await ada.close()
    expect(faults).toEqual([])
  }, 300_000)
})
