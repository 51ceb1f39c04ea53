/** docs/deploying.md: it makes the installation that the other pages are followed on. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { must, setUpAnswers } from '../ground.ts'
import type { Story } from '../story.ts'

const noBuilder = 'needs a daemon that builds and runs containers'
const noCluster = 'needs a Kubernetes cluster; test/deploy/manifests.test.ts has its files built by kubectl'

export const deploying: Story = {
  page: 'docs/deploying.md',
  steps: [
    {
      block: 'create role svc_owner',
      play: {
        database: 'postgres',
        replace: () => [
          [`svc_owner login createrole password '…'`, `svc_owner login createrole password 'ownerpw'`],
          [`svc_daemon login noinherit password '…'`, `svc_daemon login noinherit password 'daemonpw'`],
        ],
      },
    },
    {
      block: 'export SVC_DATABASE_OWNER_URL',
      play: {
        // With the private authority that the paragraph behind it names.
        replace: ({ env, server }) => [
          ['svc_owner:…@db.example.org/svc?', `svc_owner:ownerpw@127.0.0.1:${server.port}/svc?`],
          ['svc_daemon:…@db.example.org/svc?', `svc_daemon:daemonpw@127.0.0.1:${server.port}/svc?`],
          ['sslmode=verify-full', env['SVC_DATABASE_URL']?.split('?')[1] ?? ''],
          ['/etc/svc/keyring.json', env['SVC_KEYRING_FILE'] ?? ''],
        ],
        before: ({ env }, terminal) => terminal.type(`export SVC_DATA_DIR='${env['SVC_DATA_DIR']}'`),
        // Nothing serves yet, and the rights of every login are revoked below.
        codes: { 'svc doctor': 8 },
        shows: [/\d{4}_\w+/, 'lo_'],
      },
    },
    {
      block: 'do $$',
      play: {
        after: async (_, terminal) => {
          const { said } = await terminal.type('svc doctor')
          expect(said).toMatch(/✔ rights|ok +rights|rights/)
          expect(said).not.toContain('lo_')
        },
      },
    },
    {
      inline: 'svc installation set-up --api-url URL --set-up-token-file FILE',
      play: {
        before: (ground) => ground.startDaemon(),
        replace: (ground) => [
          ['URL', ground.address],
          ['FILE', join(ground.folder, 'data/set-up.token')],
        ],
        answers: () => setUpAnswers,
        shows: ['is the first operator'],
      },
    },
    {
      block: `SVC_DATABASE_URL='postgres`,
      play: { isSettings: true },
    },
    { block: `SVC_DATABASE_STANDBY_URL='postgres`, play: { isSettings: true } },
    { block: 'npm install --global --prefix /opt/svc', elsewhere: 'test/campaigns/package.test.ts' },
    {
      block: 'useradd --system',
      cannot:
        'needs systemd as the first process; test/deploy/unit.test.ts has the unit checked, and starts what it starts',
    },
    { block: 'npm pack', cannot: noBuilder },
    { block: 'cd deploy/compose', cannot: noBuilder },
    { block: 'kubectl apply -f', cannot: noCluster },
    {
      block: 'svc backup create',
      play: {
        // The embedded installation of somebody else, in a folder of its own.
        before: async ({ folder }, terminal) => {
          await must(terminal, 'unset SVC_DATABASE_URL SVC_DATABASE_OWNER_URL SVC_KEYRING_FILE SVC_DATA_DIR')
          await must(terminal, `mkdir '${folder}/embedded'; cd '${folder}/embedded'`)
          await must(terminal, 'svc tenants provision --slug acme --display-name Acme --owner-email ada@acme.example')
        },
        replace: ({ folder }) => [['/backups', folder]],
      },
    },
    {
      block: 'SVC_DATA_DIR=/srv/svc',
      play: {
        replace: ({ folder }) => [
          ['/srv/svc', join(folder, 'restored')],
          ['/backups', folder],
        ],
        after: async ({ folder }, terminal) => {
          expect(await must(terminal, `SVC_DATA_DIR='${folder}/restored' svc tenants list --recovery`)).toContain(
            'acme',
          )
        },
      },
    },
  ],
}
