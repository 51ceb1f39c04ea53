/** The register of every job the worker knows. */

import { endDueOffers, endOffer, tellWorkspaces } from '../areas/auth/offered-providers/jobs.ts'
import { sendPasswordReset } from '../areas/auth/password/forgotten-password.ts'
import { endInvitation, sweepExpired } from '../areas/auth/sign-in/jobs.ts'
import { exportTenantJob } from '../areas/backup/export-job.ts'
import { resumeJobs } from '../areas/backup/resume-jobs.ts'
import { sweepOutbox } from '../areas/events/retention.ts'
import { resealValues } from '../areas/keyring/jobs.ts'
import { sweepMailFolder } from '../areas/mail/folder.ts'
import { sendMail, tellAdministrators } from '../areas/mail/jobs.ts'
import { endPasswordOpening, purgeDue, purgeTenant } from '../areas/tenants/jobs.ts'
import { removeDeliveries, sweepDeliveries } from '../areas/webhooks/jobs.ts'
import type { RunnableJob } from '../kernel/transaction/runnable-job.ts'

export const jobs: readonly RunnableJob[] = [
  endInvitation,
  sweepExpired,
  purgeTenant,
  purgeDue,
  endPasswordOpening,
  endOffer,
  endDueOffers,
  tellWorkspaces,
  exportTenantJob,
  resumeJobs,
  tellAdministrators,
  sendMail,
  resealValues,
  sendPasswordReset,
  sweepMailFolder,
  sweepOutbox,
  removeDeliveries,
  sweepDeliveries,
]

/** The queues that the database must have, one for each job. */
export const queueNames: readonly string[] = jobs.map(({ name }) => name)
