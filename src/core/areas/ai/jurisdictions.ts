/**
 * Which jurisdictions a workspace's content may go to.
 *
 * Checked whenever a model is offered, listed, chosen or called. So a jurisdiction that the
 * operator withdraws is closed from the next call on, also for models that were offered before.
 *
 * Spec: Admin: AI models; decisions 4, InstanceSettings, `ai`.
 */
import type { Jurisdiction } from '../../contract/settings/defaults.ts'
import type { Settings } from '../settings/settings.ts'

/** The jurisdictions that the operator allows; THIRD_COUNTRY only after such transfers are confirmed. */
export const allowedBy = ({
  allowed_jurisdictions,
  third_country_confirmed,
}: Settings['ai']): readonly Jurisdiction[] =>
  allowed_jurisdictions.filter((one) => one !== 'THIRD_COUNTRY' || third_country_confirmed)
