/** Offered identity providers by the name people give: the name on the button, or the id. */

import { identityProviderOperations, type OfferedProvider } from '../../core/contract/providers/offered.ts'
import type { Configuration } from '../../core/contract/providers/operations.ts'
import type { Caller } from '../call/caller.ts'
import { details } from '../render/details.ts'
import { moment } from '../render/moment.ts'
import { pick } from './pick.ts'

/** The provider of that id or name. Refuses not_found; fails (usage) where several have the name. */
export async function findProvider(caller: Caller, name: string): Promise<OfferedProvider> {
  const { data } = await caller.call(identityProviderOperations.listIdentityProviders, {})
  return pick(data, name, byButton)
}

/** By the name on the button. */
export const byButton = {
  by: ({ display_name }: { readonly display_name: string | null }) => display_name,
  called: 'providers',
}

/** What a person calls it: the name on the button, else the issuer. */
export const shownAs = ({ display_name, issuer }: Pick<OfferedProvider, 'display_name' | 'issuer'>) =>
  display_name ?? issuer

/** What is happening to the offer, in a word or two. */
export function stateOf({ state, withdraw_at }: OfferedProvider): string {
  switch (state) {
    case 'OFFERED':
      return 'offered'
    case 'WITHDRAWAL_ANNOUNCED':
      return `ends ${moment(withdraw_at)}`
    case 'ENDED':
      return `ended ${moment(withdraw_at)}`
  }
}

export const described = (provider: OfferedProvider): string =>
  details([
    ['name', provider.display_name ?? ''],
    ['issuer', provider.issuer],
    ['client', provider.client_id],
    ['secret', provider.has_secret ? 'sealed' : 'none'],
    ['kind', provider.kind],
    ['brings in', provider.provisioning],
    ['domains', provider.allowed_email_domains.join(', ')],
    ['directories', provider.allowed_directories.join(', ')],
    ['newcomers are', provider.newcomer_role ?? 'VIEWER'],
    ['position', provider.position],
    ['offer', stateOf(provider)],
    ['workspaces on', provider.workspaces_on],
    ['id', provider.id],
  ])

/** A provider as PUT takes it, without its secret, which stays. */
export const configurationOf = (provider: OfferedProvider): Configuration => ({
  issuer: provider.issuer,
  client_id: provider.client_id,
  display_name: provider.display_name,
  provisioning: provider.provisioning,
  position: provider.position,
  allowed_email_domains: provider.allowed_email_domains,
  allowed_directories: provider.allowed_directories,
  newcomer_role: provider.newcomer_role,
  newcomer_group_id: provider.newcomer_group_id,
})
