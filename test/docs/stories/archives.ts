/** Backup targets, backups of workspaces, and their format. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceTables } from '../../../src/core/contract/tables.ts'
import { type Ground, must } from '../ground.ts'
import type { Story } from '../story.ts'

const idIn = (said: string) => /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/.exec(said)?.[1] ?? ''

/** The folder of the first encrypted archive. */
const archiveOf = ({ folder }: Ground) =>
  globSync(join(folder, 'data/backups/archives/tenants/*/*/manifest.sig'))
    .at(0)
    ?.replace(/\/manifest\.sig$/, '') ?? ''

export const backupTargets: Story = {
  page: 'docs/runbooks/backup-targets.md',
  steps: [
    { block: 'svc backup-targets add disk', play: {} },
    {
      block: '(umask 077; cat > s3.key)',
      play: { input: { '(umask 077; cat > s3': 'a-secret-key', '(umask 077; cat > vault': 'not a key' } },
    },
  ],
}

let recipient = ''
let identity = ''

export const backups: Story = {
  page: 'docs/runbooks/backups.md',
  steps: [
    {
      block: 'age-keygen -o key.txt',
      play: {
        needs: ['age-keygen'],
        after: async (_, terminal, said) => {
          recipient = /^(age1\w+)\s*$/m.exec(said)?.[1] ?? ''
          identity = `${/^(\/\S+)$/m.exec(await must(terminal, 'pwd'))?.[1]}/key.txt`
        },
      },
    },
    {
      block: 'svc backups create acme',
      play: {
        needs: ['age-keygen'],
        replace: () => [
          ['age1…', recipient],
          ['ID', idIn],
        ],
        shows: ['GOOD'],
      },
    },
    {
      block: 'svc backup-schedules create nightly',
      play: { needs: ['age-keygen'], replace: () => [['age1…', recipient]] },
    },
    {
      block: 'age --decrypt',
      play: {
        needs: ['age', 'zstd'],
        before: (ground, terminal) => terminal.type(`cd ${archiveOf(ground)}`),
        replace: () => [['key.txt', identity]],
        shows: ['"title":"Rocket"'],
      },
    },
  ],
}

const hashIn = (said: string) => /--(?:apply|plan) ([0-9a-f]{16})/.exec(said)?.[1] ?? ''
const restoreIn = (said: string) => /restores apply (\S{36})/.exec(said)?.[1] ?? ''

export const rewinding: Story = {
  page: 'docs/runbooks/rewind.md',
  steps: [
    {
      block: 'svc backups list --workspace acme',
      play: {
        replace: () => [
          ['MOMENT', new Date(Date.now() + 1000).toISOString()],
          ['HASH', hashIn],
        ],
        shows: ['Nothing was changed.', 'DONE'],
      },
    },
    { block: 'svc tenants rewind acme --undo', play: { shows: ['UNDONE'] } },
  ],
}

let lost = ''

export const restoring: Story = {
  page: 'docs/runbooks/restore.md',
  steps: [
    {
      block: 'svc backup-targets backups disk',
      play: {
        before: async (ground, terminal) => {
          await must(terminal, 'svc tenants provision --slug lost --display-name Lost --owner-email owner@lost.example')
          await must(terminal, 'svc backups create lost --target disk --wait')
          lost = /\b([0-9a-f-]{36})\b/.exec(await must(terminal, 'svc tenants show lost --jq .id'))?.[1] ?? ''
          await ground.sql(removal(lost))
        },
        replace: () => [
          ['PATH', (said) => new RegExp(`tenants/${lost}/\\S+`).exec(said)?.[0] ?? ''],
          ['ID', restoreIn],
          ['HASH', hashIn],
        ],
        shows: ['DONE'],
      },
    },
    {
      block: 'svc restores create --backup BACKUP',
      play: {
        before: async (_, terminal) => {
          lost =
            /\b([0-9a-f-]{36})\b/.exec(
              await must(terminal, 'svc backups list --workspace lost --jq .data[0].id'),
            )?.[1] ?? ''
        },
        replace: () => [
          ['BACKUP', () => lost],
          ['ID', restoreIn],
          ['HASH', hashIn],
        ],
        shows: ['acme-copy', 'DONE'],
      },
    },
  ],
}

/** What somebody with the database's password does to a workspace. */
const removal = (id: string) => `
set session_replication_role = replica;
${Object.keys(workspaceTables)
  .map((name) => `delete from ${name} where tenant_id = '${id}';`)
  .join('\n')}
delete from tenant where id = '${id}';
`

export const archiveFormat: Story = {
  page: 'docs/archive-format.md',
  steps: [
    {
      block: 'age --decrypt',
      // In the folder, and with the key, of the page before.
      play: {
        needs: ['age', 'zstd'],
        before: (ground, terminal) => terminal.type(`cd ${archiveOf(ground)}`),
        replace: () => [['key.txt', identity]],
      },
    },
  ],
}
