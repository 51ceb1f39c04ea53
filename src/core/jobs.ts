/** The register of every job the worker knows. */
import { endPasswordOpening, purgeDue, purgeTenant } from './admin/tenants/jobs.ts'
import { endInvitation, sweepExpired } from './auth/jobs.ts'
import type { Job } from './job.ts'

export const jobs: readonly Job[] = [
  endInvitation as Job,
  sweepExpired as Job,
  purgeTenant as Job,
  purgeDue as Job,
  endPasswordOpening as Job,
]
