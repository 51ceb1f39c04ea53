/** The refusal of a call that takes a step-up and has none, with what RFC 9470 tells the client. */
import { Problem } from '../../../contract/problem.ts'

export const proofRequired = () =>
  new Problem(
    'auth.step_up_required',
    {},
    { headers: { 'www-authenticate': 'Bearer error="insufficient_user_authentication", max_age=300' } },
  )
