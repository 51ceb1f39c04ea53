/** The register of every job that the worker knows: the jobs of all areas in one list. */

import { aiJobs } from '../areas/ai/jobs.ts'
import { authJobs } from '../areas/auth/jobs.ts'
import { backupJobs } from '../areas/backup/jobs.ts'
import { commentsJobs } from '../areas/comments/jobs.ts'
import { eventsJobs } from '../areas/events/jobs.ts'
import { identityJobs } from '../areas/identity/jobs.ts'
import { itemsJobs } from '../areas/items/jobs.ts'
import { keyringJobs } from '../areas/keyring/jobs.ts'
import { mailJobs } from '../areas/mail/jobs.ts'
import { mediaJobs } from '../areas/media/jobs.ts'
import { notificationsJobs } from '../areas/notifications/jobs.ts'
import { privacyJobs } from '../areas/privacy/jobs.ts'
import { restoresJobs } from '../areas/restores/jobs.ts'
import { retentionJobs } from '../areas/retention-runs/jobs.ts'
import { tenantsJobs } from '../areas/tenants/jobs.ts'
import { webhooksJobs } from '../areas/webhooks/jobs.ts'
import type { RunnableJob } from '../kernel/transaction/runnable-job.ts'

export const jobs: readonly RunnableJob[] = [
  ...aiJobs,
  ...authJobs,
  ...backupJobs,
  ...commentsJobs,
  ...eventsJobs,
  ...identityJobs,
  ...itemsJobs,
  ...keyringJobs,
  ...mailJobs,
  ...mediaJobs,
  ...notificationsJobs,
  ...privacyJobs,
  ...retentionJobs,
  ...restoresJobs,
  ...tenantsJobs,
  ...webhooksJobs,
]

/** The queues that the database must have, one for each job. */
export const queueNames: readonly string[] = jobs.map(({ name }) => name)
