/** docs/people.md and docs/runbooks/operators.md. */
import { expect } from 'vitest'
import { must } from '../ground.ts'
import type { Story } from '../story.ts'

export const people: Story = {
  page: 'docs/people.md',
  steps: [
    { block: 'svc accounts invite charles', play: {} },
    { block: 'svc accounts invite mary', play: { shows: ['Joined acme'] } },
    {
      block: 'svc accounts invite guest',
      play: {
        replace: async (ground) => {
          const [, id = ''] =
            /([0-9a-f]{8}-[0-9a-f-]{27})/.exec(
              await ground.sql(`select id from container where kind = 'COLLECTION' limit 1`),
            ) ?? []
          return [['0190c9d2-7a3b-7cde-8f01-23456789abcd', id]]
        },
      },
    },
    {
      block: 'svc accounts renew-invitation charles',
      // An address gets one mail a minute.
      play: { before: (ground) => ground.sql(`update invitation set created_at = created_at - interval '2 minutes'`) },
    },
    { block: 'svc accounts create-managed bench-3', play: {} },
    { block: 'svc accounts start-password bench-3', play: {} },
    { block: 'svc accounts list --find bab', play: { shows: ['charles@acme.example', 'guest@else.example'] } },
    { block: 'svc accounts disable charles', play: {} },
    { block: 'svc accounts list --external-id', play: { shows: ['"data": []'] } },
    {
      inline: 'svc accounts enable',
      play: { replace: () => [['svc accounts enable', 'svc accounts enable charles@acme.example']] },
    },
    {
      block: 'svc accounts list --workspace acme --recovery',
      play: {
        before: async (ground, terminal) => {
          await must(terminal, 'svc tenants provision --slug late --display-name Late --owner-email owner@late.example')
          await ground.stopDaemon()
        },
        replace: () => [
          ['ada@acme.example', 'owner@late.example'],
          ['--workspace acme', '--workspace late'],
        ],
        after: (ground) => ground.startDaemon(),
      },
    },
    { block: 'svc sessions list', play: {} },
    {
      block: 'svc notice set',
      // What stands before has ended her own tokens, too.
      play: {
        before: (_, terminal) => must(terminal, 'svc login --workspace acme --email ada@acme.example --admin'),
        shows: ['Maintenance on Sunday'],
      },
    },
  ],
}

export const operators: Story = {
  page: 'docs/runbooks/operators.md',
  steps: [
    {
      block: 'svc operators list --recovery',
      play: {
        // Mary has joined by docs/people.md.
        before: (ground) => ground.stopDaemon(),
        replace: () => [['ada@acme.example', 'mary@acme.example']],
        after: async (ground, terminal) => {
          await ground.startDaemon()
          expect((await terminal.type('svc operators list')).said).toContain('mary@')
        },
      },
    },
  ],
}
