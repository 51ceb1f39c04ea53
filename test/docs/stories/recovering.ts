/** Run-books about the database: a purge, an upgrade, a recovery to an earlier time. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { shows } from '../../kit/needs.ts'
import { stockPrograms } from '../../kit/stock-server.ts'
import type { Terminal } from '../../kit/terminal.ts'
import { asAda, type Ground, must } from '../ground.ts'
import type { Story } from '../story.ts'

export const stuckPurge: Story = {
  page: 'docs/runbooks/stuck-purge.md',
  steps: [
    {
      block: 'svc tenants show SLUG',
      play: {
        before: async (_, terminal) => {
          await must(terminal, 'svc tenants provision --slug gone --display-name Gone --owner-email owner@gone.example')
          await must(terminal, 'svc tenants delete gone')
        },
        replace: () => [['SLUG', 'gone']],
        shows: [/"purge_after": "\d/, '"purge_started_at": null', '"hold_count": 0'],
      },
    },
    { block: 'select t.slug, t.purge_started_at', play: { shows: ['(0 rows)'] } },
  ],
}

export const upgrade: Story = {
  page: 'docs/runbooks/upgrade.md',
  steps: [
    {
      inline: 'pg_dump -Fc -f before.dump svc',
      play: {
        needs: ['pg_dump'],
        before: ({ server }, terminal) =>
          must(
            terminal,
            Object.entries(server.superuser)
              .map(([name, value]) => `export ${name}='${value}'`)
              .join('; '),
          ),
      },
    },
    {
      block: 'createdb -O svc_owner svc_before',
      play: {
        needs: ['pg_restore'],
        after: async ({ env }, terminal) => {
          const at = (name: string) => `${name}='${env[name]?.replace('/svc?', '/svc_before?')}'`
          const both = `${at('SVC_DATABASE_URL')} ${at('SVC_DATABASE_OWNER_URL')}`
          expect(await must(terminal, `${both} svc db status`)).toContain(' 0 pending')
        },
      },
    },
  ],
}

/** *T*. */
let then = ''
let accepted = ''

/** A base backup; something before *T*, and a hold after it. */
async function untilTheLoss(ground: Ground): Promise<void> {
  const { server } = ground
  const made = server.run('pg_basebackup', '-D', join(server.folder, 'base'), '-X', 'stream', '--checkpoint=fast')
  expect(made).toMatchObject({ status: 0, stderr: '' })
  const ada = await asAda(ground)
  await must(ada, 'svc backup-targets add disk --kind local --path archives')
  await must(ada, 'svc tenants provision --slug before --display-name Before --owner-email owner@before.example')
  then =
    /(\d{4}-[^\s"]+)/.exec(
      await ground.sql(`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')`),
    )?.[1] ?? ''
  await must(ada, 'svc tenants provision --slug after --display-name After --owner-email owner@after.example')
  await must(ada, 'svc holds place before --reason "case 12"')
  await ada.close()
  await ground.stopDaemon()
  await ground.sql('select pg_switch_wal()')
  const archived = async () => (await ground.sql('select last_archived_wal from pg_stat_archiver')).includes('0000000')
  await expect.poll(archived, { timeout: 20_000 }).toBe(true)
}

/** The server belongs to its user, and so do the commands about it. */
const asItsUser = async ({ server }: Ground, terminal: Terminal) => {
  await terminal.type(
    Object.entries(server.superuser)
      .map(([name, value]) => `export ${name}='${value}'`)
      .join('; '),
  )
  await terminal.type(`cd ${server.folder}`)
  if (process.getuid?.() === 0)
    await terminal.type(
      'setpriv "--reuid=$(stat -c %u data)" "--regid=$(stat -c %g data)" --clear-groups bash --noprofile --norc --noediting -i',
    )
}

export const recovery: Story = {
  page: 'docs/runbooks/point-in-time-recovery.md',
  steps: [
    {
      block: 'pg_ctl -D DATA -m fast stop',
      play: {
        before: async (ground, terminal) => {
          await untilTheLoss(ground)
          await asItsUser(ground, terminal)
        },
        replace: ({ server }) => [
          ['DATA', server.data],
          ['LOG', join(server.folder, 'log')],
          ['/archive', join(server.folder, 'archive')],
          ['/base', join(server.folder, 'base')],
          ['2026-11-20T11:30:00.000', then],
        ],
        after: async (ground, terminal) => {
          const isOver = async () => /^ f$/m.test(await ground.sql('select pg_is_in_recovery()'))
          await expect.poll(isOver, { timeout: 30_000 }).toBe(true)
          expect(await ground.sql('select slug from tenant')).not.toContain('after')
          if (process.getuid?.() === 0) await terminal.type('exit')
        },
      },
    },
    {
      block: 'pgbackrest --stanza=svc',
      cannot: 'needs pgBackRest and its repository; the page says with which release it was tried',
    },
    {
      block: 'mv DATA DATA.lost',
      cannot: 'needs Barman and its server; the page says with which release it was tried',
    },
    {
      block: 'svc recovery begin',
      play: {
        replace: () => [
          ['2026-11-20T11:30:00Z', `${then}Z`],
          ['TARGET', 'disk'],
        ],
        // A mail of before that waits is a finding, which is then accepted by its name.
        codes: { 'svc recovery reconcile            # the plan': 8, 'svc recovery check': [0, 8] },
        after: (_, __, said) => {
          accepted = /^finding +jobs/m.test(said) ? ' --accept jobs' : ''
        },
        shows: ['hold'],
      },
    },
    {
      block: 'svc recovery admit',
      play: {
        replace: () => [['svc recovery admit', `svc recovery admit${accepted}`]],
        after: async (ground) => {
          await ground.startDaemon()
          const ada = await asAda(ground)
          expect(await must(ada, 'svc holds list before')).toContain('case 12')
          await ada.close()
        },
      },
    },
  ],
}

export const canRecover = shows(
  'a recovery to a point in time',
  'the programs of PostgreSQL (apt-get install postgresql)',
  stockPrograms !== undefined,
)
