/** docs/settings.md, and the pages whose blocks are variables. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../blocks.ts'
import { must } from '../ground.ts'
import type { Story } from '../story.ts'

export const settings: Story = {
  page: 'docs/settings.md',
  steps: [
    {
      block: 'svc settings diff',
      play: {
        before: async (_, terminal) => {
          const cwd = /^(\/\S+)$/m.exec(await must(terminal, 'pwd'))?.[1] ?? ''
          const [example] = blocksOf('docs/settings.md').filter(({ language }) => language === 'yaml')
          writeFileSync(join(cwd, 'settings.yaml'), `${example?.lines.join('\n')}\n`)
        },
        codes: { 'svc settings diff': 8 },
        shows: ['security policy 7'],
      },
    },
    { block: 'svc settings show --json', play: {} },
    {
      block: 'svc daemon < /dev/null &',
      play: {
        before: (_, terminal) => must(terminal, 'export SVC_PORT=0'),
        awaits: { 'svc daemon': /listening on/, kill: /the keyring was read again/ },
        after: async (_, terminal) => {
          await must(terminal, 'kill "$(cat svc.pid)"; wait')
          await must(terminal, 'echo "{}" > none.yaml; svc settings apply none.yaml')
        },
      },
    },
  ],
}

export const mail: Story = {
  page: 'docs/runbooks/mail.md',
  steps: [
    { block: 'SVC_SMTP_URL', play: { isSettings: true } },
    { block: 'svc doctor', play: { codes: { 'svc doctor': 8 } } },
    { block: 'svc mail resend', play: {} },
  ],
}

export const media: Story = {
  page: 'docs/runbooks/media.md',
  steps: [
    { block: 'SVC_MEDIA_STORE=s3', play: { isSettings: true } },
    { block: 'SVC_CLAMD_ADDRESS', play: { isSettings: true } },
  ],
}
