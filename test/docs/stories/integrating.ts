/** docs/webhooks.md, docs/ai.md and what belongs to them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type AiServer, aiServer } from '../../kit/ai-server.ts'
import { type Receiver, receiver } from '../../kit/receiver.ts'
import { must } from '../ground.ts'
import type { Story } from '../story.ts'

let target: Receiver
let model: AiServer

export const webhooks: Story = {
  page: 'docs/webhooks.md',
  steps: [
    {
      block: 'svc webhooks create',
      play: {
        before: async () => {
          target = await receiver()
        },
        replace: () => [['https://hooks.example.com/svc', target.url]],
      },
    },
    {
      block: 'svc webhooks listen',
      play: {
        before: async (ground, terminal) => {
          const said = await ground.sql(`select id from container where kind = 'COLLECTION' limit 1`)
          const [, id = ''] = /([0-9a-f]{8}-[0-9a-f-]{27})/.exec(said) ?? []
          await must(terminal, `svc api POST /items -f container_id=${id} -f title=Rocket`)
          await target.until(1)
          const cwd = /^(\/\S+)$/m.exec(await must(terminal, 'pwd'))?.[1] ?? ''
          writeFileSync(join(cwd, 'body.json'), target.received[0]?.body ?? '')
          secret = readFileSync(join(cwd, 'svc.secret'), 'utf8').trim()
        },
        replace: () => [
          ['http://localhost:3000/hooks', target.url],
          ['ID', String(target.received[0]?.headers['webhook-id'])],
          ['SECONDS', String(target.received[0]?.headers['webhook-timestamp'])],
          ['V1,BASE64', String(target.received[0]?.headers['webhook-signature'])],
        ],
        answers: () => [
          [/Ctrl-C/, '\u0003'],
          [/Signing secret[^\n]*:/, () => `${secret}\r`],
        ],
        codes: { 'svc webhooks listen': 130 },
        shows: ['work.label.created'],
      },
    },
    {
      block: 'svc deliveries replay',
      play: { replace: () => [['https://hooks.example.com/svc', target.url]], after: () => target.close() },
    },
  ],
}
let secret = ''

export const deliveries: Story = {
  page: 'docs/runbooks/deliveries.md',
  steps: [{ block: 'select pid, datname', play: {} }],
}

export const ai: Story = {
  page: 'docs/ai.md',
  steps: [
    {
      block: '(umask 077; cat > vendor.key)',
      play: {
        before: async () => {
          model = await aiServer()
        },
        input: { '(umask': 'sk-of-the-vendor' },
        replace: () => [
          ['https://api.vendor.example/v1', `${model.url}/v1`],
          ['small-1', 'small'],
        ],
      },
    },
    {
      block: 'SVC_EGRESS_ALLOW=10.0.0.5:11434',
      play: {
        replace: () => [
          ['http://10.0.0.5:11434', model.url],
          ['llama3.2', 'small'],
          ['10.0.0.5:11434', `127.0.0.1:${model.port}`],
        ],
      },
    },
    {
      block: 'svc ai-providers test',
      play: {
        after: async () => {
          expect(model.requests.length).toBeGreaterThan(0)
          await model.close()
        },
      },
    },
  ],
}

export const search: Story = {
  page: 'docs/api/search.md',
  steps: [
    {
      block: "echo '{}' | svc api POST",
      play: {
        replace: () => [
          ['0199c0de-7a3b-7cde-8f01-23456789abcd', (said) => /"(?:job_)?id": "([0-9a-f-]{36})"/.exec(said)?.[1] ?? ''],
        ],
      },
    },
  ],
}
