/**
 * The folder into which mails are written if no relay is configured. The files contain names and
 * addresses, so they are kept for 30 days, and no longer than their workspace.
 *
 * The purge removes the folder of its workspace. It misses files that a worker writes later, and
 * folders on other machines. The next sweep on the machine that has them removes these.
 *
 * Spec: decisions 4 (a purge leaves nothing); docs/decisions/0025.
 */
import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { ifThere } from '../../kernel/values/if-there.ts'

const keptDays = 30

/** Removes mails that are too old, and folders of workspaces that no longer exist. */
export const sweepMailFolder = defineJob({
  name: 'sweep_mail_folder',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '47 * * * *',
  async run(installation) {
    const { folder } = installation.config.mail
    const written = (await namesIn(folder)).filter((name) => z.guid().safeParse(name).success)
    if (written.length === 0) return
    const there = await installation.transaction(
      { kind: 'SYSTEM', job: 'sweep_mail_folder' },
      { readOnly: true },
      ({ tx }) => tx.last<{ id: string }[]>`select id from tenant where id in ${tx.list(written)}`,
    )
    const known = new Set(there.map(({ id }) => id))
    for (const tenantId of written) {
      const own = join(folder, tenantId)
      if (known.has(tenantId)) await removeOld(own, installation.clock.now() - keptDays * 86_400_000)
      else await rm(own, { recursive: true, force: true })
    }
  },
})

async function removeOld(folder: string, before: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = join(folder, name)
    const written = await stat(file).catch(() => undefined) // a reader has removed it
    if (written && written.mtimeMs < before) await rm(file, { force: true })
  }
  await rmdir(folder).catch(() => {}) // fails while mails are in it
}

const namesIn = async (folder: string): Promise<string[]> => (await ifThere(readdir(folder))) ?? []
