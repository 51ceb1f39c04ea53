/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { sendAddressConfirmation } from './addresses/confirmation-mail.ts'
import { endConfirmation } from './addresses/ending-confirmation.ts'
import { sendInvitation } from './invitation-mail.ts'
import { endDueOffers, endOffer, tellWorkspaces } from './offered-providers/jobs.ts'
import { sendPasswordReset } from './password/forgotten-password.ts'
import { endStartPassword } from './password/start-password.ts'
import { endInvitation, sweepExpired } from './sign-in/jobs.ts'

export const authJobs: readonly RunnableJob[] = [
  endInvitation,
  endStartPassword,
  sweepExpired,
  endOffer,
  endDueOffers,
  tellWorkspaces,
  sendPasswordReset,
  sendInvitation,
  sendAddressConfirmation,
  endConfirmation,
]
