/**
 * A person's walk at 60, 80 and 160 columns: provisioning, quotas, a suspended workspace, a failed webhook, a key change, an
 * export, and every list on the way. No table is wider than the terminal, and no day is cut. With SVC_TEST_SCREENS=FOLDER the
 * screens are written there, to be looked at.
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

const idIn = (said: string) => /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22})/.exec(said)?.[1] ?? ''

describe.each([60, 80, 160])('at %i columns', (columns) => {
  test('every screen of the walk is whole', async () => {
    const ada = await asAda(ground, columns)
    const screens: string[] = []
    const wide: string[] = []
    const walk = async (line: string, code = 0) => {
      const { said, code: ended } = await ada.type(line)
      screens.push(said)
      if (screensGo !== undefined) writeFileSync(join(screensGo, `walk-${columns}.txt`), screens.join('\n'))
      expect([line, ended], said).toEqual([line, code])
      // The first line is what was typed; what is drawn over itself has no length, and messages are not broken.
      const lines = said.split('\n').slice(1, -1)
      const tables = lines.filter(
        (one) => /^[A-Z*]|^ {2}|\S {2,}\S/.test(one) && !/[.!:]$|^\?|✔|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(one),
      )
      wide.push(...tables.filter((one) => [...one].length > columns).map((one) => `${line}: ${one}`))
      if (/\d{4}-\d?\d?-?\d?…/.test(said)) wide.push(`${line}: cuts a day`)
      return said
    }
    const slug = `walk-${columns}`
    await walk(
      `svc tenants provision --slug ${slug} --display-name "Walking Company of ${columns}" --owner-email o@${slug}.example`,
    )
    await walk('svc tenants list')
    await walk(`svc tenants show ${slug}`)
    await walk(`svc tenants quotas set ${slug} items=5000 api_requests_per_minute=unlimited`)
    await walk(`svc tenants stats ${slug}`)
    await walk(`svc tenants suspend ${slug}`)
    await walk('svc tenants list --state SUSPENDED')
    await walk(`svc tenants resume ${slug}`)
    await walk(`svc accounts invite charles-${columns}@acme.example --name "Charles Babbage"`)
    for (const list of ['accounts list', 'sessions list', 'tokens list', 'operators list', 'profiles list'])
      await walk(`svc ${list}`)
    await walk(`svc groups create "Engineers of ${columns}"`)
    await walk('svc groups list')
    await walk(`svc webhooks create ${target.url}?at=${columns} --type 'work.*' --secret-file hook-${columns}.secret`)
    const collection = idIn(await ground.sql(`select id from container where kind = 'COLLECTION' order by id limit 1`))
    const before = target.received.length
    await walk(`svc api POST /items -f container_id=${collection} -f title=Rocket --fields id,title`)
    await target.until(before + 1)
    await walk('svc webhooks list')
    await walk(`svc deliveries list "${target.url}?at=${columns}"`)
    const { said } = await ada.type(`svc deliveries list "${target.url}?at=${columns}" --jq '.data[0].id'`)
    await walk(`svc deliveries why ${idIn(said.split('\n').slice(1).join('\n'))}`)
    await walk('svc deliveries stats')
    await walk('svc keyring show')
    await walk('svc keyring add')
    await walk('svc encryption status')
    if (columns === 60) await walk('svc backup-targets add disk --kind local --path archives')
    await walk('svc backup-targets list')
    await walk('svc tenants export acme --target disk --wait')
    await walk('svc backup-targets backups disk')
    await walk('svc backups create acme --target disk --wait')
    await walk('svc backups list')
    await walk('svc journal')
    await walk('svc audit')
    await walk('svc status')
    await walk('svc doctor', 8)
    await walk('svc settings show')
    await walk('svc signin explain acme ada@acme.example')
    await walk(`svc tenants delete ${slug} --plan`)
    await ada.close()
    expect(wide).toEqual([])
  }, 300_000)
})
