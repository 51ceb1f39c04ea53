/** The register of every job the worker knows. */
import { endInvitation, sweepExpired } from './auth/jobs.ts'
import type { Job } from './job.ts'

export const jobs: readonly Job[] = [endInvitation as Job, sweepExpired as Job]
