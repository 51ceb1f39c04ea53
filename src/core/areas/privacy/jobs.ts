/** The jobs of this area: one run a minute looks after what is due. Spec: Keeping, 2. */
import { z } from 'zod'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { pursueErasures } from './erasing/job.ts'
import { makePackages, makePackagesJob } from './packages/making.ts'
import { searchMentions, searchMentionsJob } from './preview/search.ts'
import { remindOfDeadlines } from './reminders.ts'

/** In the order of what people wait for least. Killed anywhere, the next run goes on. */
const tasks: readonly ((installation: Installation) => Promise<void>)[] = [
  remindOfDeadlines,
  searchMentions,
  makePackages,
  pursueErasures,
]

export const runPrivacy = defineJob({
  name: 'run_privacy',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  atOnce: 1,
  takesLong: true,
  longestSeconds: 3600,
  cron: '* * * * *',
  async run(installation) {
    const failures: unknown[] = []
    // One that fails does not stop the others.
    for (const task of tasks) await task(installation).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  },
})

export const privacyJobs: readonly RunnableJob[] = [runPrivacy, searchMentionsJob, makePackagesJob]
