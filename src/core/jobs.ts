/** The register of every job the worker knows. */
import { resealValues } from './admin/encryption/jobs.ts'
import { endDueOffers, endOffer, tellWorkspaces } from './admin/identity-providers/jobs.ts'
import { endPasswordOpening, purgeDue, purgeTenant } from './admin/tenants/jobs.ts'
import { sendPasswordReset } from './auth/forgotten-password.ts'
import { endInvitation, sweepExpired } from './auth/jobs.ts'
import { exportTenantJob } from './backup/export-job.ts'
import { resumeJobs } from './backup/resume-jobs.ts'
import type { Job } from './job.ts'
import { sweepMailFolder } from './mail/folder.ts'
import { sendMail, tellAdministrators } from './mail/jobs.ts'
import { sweepOutbox } from './triggers/sweep.ts'
import { removeDeliveries, sweepDeliveries } from './webhooks/jobs.ts'

export const jobs: readonly Job[] = [
  endInvitation as Job,
  sweepExpired as Job,
  purgeTenant as Job,
  purgeDue as Job,
  endPasswordOpening as Job,
  endOffer as Job,
  endDueOffers as Job,
  tellWorkspaces as Job,
  exportTenantJob as Job,
  resumeJobs as Job,
  tellAdministrators as Job,
  sendMail as Job,
  resealValues as Job,
  sendPasswordReset as Job,
  sweepMailFolder as Job,
  sweepOutbox as Job,
  removeDeliveries as Job,
  sweepDeliveries as Job,
]
