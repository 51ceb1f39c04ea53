/** The register of every job the worker knows. */
import { resealValues } from './admin/encryption/jobs.ts'
import { endDueOffers, endOffer, tellWorkspaces } from './admin/identity-providers/jobs.ts'
import { endPasswordOpening, purgeDue, purgeTenant } from './admin/tenants/jobs.ts'
import { sendPasswordReset } from './auth/forgotten-password.ts'
import { endInvitation, sweepExpired } from './auth/jobs.ts'
import { exportTenantJob } from './backup/export-job.ts'
import { resumeJobs } from './backup/resume-jobs.ts'
import type { RunnableJob } from './kernel/transaction/runnable-job.ts'
import { sweepMailFolder } from './mail/folder.ts'
import { sendMail, tellAdministrators } from './mail/jobs.ts'
import { sweepOutbox } from './triggers/sweep.ts'
import { removeDeliveries, sweepDeliveries } from './webhooks/jobs.ts'

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
