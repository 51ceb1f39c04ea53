/** Backup targets, backups of workspaces, and their format. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
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
