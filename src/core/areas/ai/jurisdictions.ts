/**
 * Which jurisdictions a workspace's content may go to.
 *
 * Asked whenever a model is offered, listed, chosen or called, so that a setting that is
 * taken back holds from the next call, for models that were offered before as well.
 *
 * Spec: Admin: AI models; decisions 4, InstanceSettings, `ai`.
 */
import type { Jurisdiction } from '../../contract/settings/defaults.ts'
import type { Settings } from '../settings/settings.ts'

/** Those the operator allows, THIRD_COUNTRY only once such transfers are confirmed. */
export const allowedBy = ({
  allowed_jurisdictions,
  third_country_confirmed,
}: Settings['ai']): readonly Jurisdiction[] =>
  allowed_jurisdictions.filter((one) => one !== 'THIRD_COUNTRY' || third_country_confirmed)
