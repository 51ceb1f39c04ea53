/** The jobs of this area, each from the story that needs it. */
import { z } from 'zod'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { sweep } from '../../kernel/transaction/sweep.ts'
import { sendNotification } from './sending.ts'

const sweeper = { kind: 'SYSTEM', job: 'sweep_notifications' } as const

/** Removes the notifications of which nothing came for so many days. */
export const sweepNotifications = defineJob({
  name: 'sweep_notifications',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '29 * * * *',
  run: (installation) =>
    sweep(installation, sweeper, [
      {
        table: 'notification',
        since: 'at',
        after: `${installation.config.notifications.days} days`,
      },
    ]),
})

export const notificationsJobs: readonly RunnableJob[] = [sendNotification, sweepNotifications]
