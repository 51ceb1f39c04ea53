/**
 * Which jurisdictions the installation allows.
 *
 * Asked whenever a model is offered, listed, chosen or called, so that a setting that is
 * taken back holds from the next call, for models that were offered before as well.
 *
 * Spec: Admin: AI models; decisions 4, InstanceSettings, `ai`.
 */
import { type Jurisdiction, jurisdictions } from '../admin/ai-providers/contract.ts'
import type { Ctx } from '../context.ts'

/** The installation's `ai` settings; absent where the operator decided nothing. */
export interface AiSettings {
  readonly allowed_jurisdictions?: readonly Jurisdiction[] | undefined
  readonly third_country_confirmed?: boolean | undefined
}

/** The jurisdictions a workspace's content may go to: those the operator allows, THIRD_COUNTRY only when confirmed. */
export const allowedBy = (settings: AiSettings): readonly Jurisdiction[] =>
  jurisdictions.filter(
    (one) =>
      (settings.allowed_jurisdictions?.includes(one) ?? true) &&
      (one !== 'THIRD_COUNTRY' || settings.third_country_confirmed === true),
  )

/** The settings in force. */
export async function readAiSettings(_ctx: Ctx): Promise<AiSettings> {
  return {}
}
