/**
 * The ways to sign in through providers, for one address of one workspace: the result of a sign-in,
 * as far as it can be known before the provider answers.
 *
 * The verdicts come from the code of the sign-in itself: which providers are in force
 * (in-force.ts), what happens to a person with an account's address (admission.ts), for whom a
 * provider may create an account (newcomer.ts).
 */

import type { SignInExplanation as Explanation } from '../../../contract/audit/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isIssued } from '../../access/issued-moment.ts'
import type { SwitchInForce } from '../../settings/settings.ts'
import type { SignInFacts } from '../sign-in/sign-in-methods.ts'
import { meetingOf } from './admission.ts'
import { providersOn, shownAs } from './in-force.ts'
import { isInDomains } from './newcomer.ts'
import { admitsNewcomers } from './newcomer-group.ts'
import type { ProviderRow } from './provider-row.ts'

type Reason = Explanation['ways'][number]['because']

export interface ProviderWay {
  readonly provider: { readonly id: string; readonly display_name: string }
  readonly isOpen: boolean
  readonly because: Reason
  readonly decidedBy: ({ readonly name: 'methods' } & SwitchInForce<'methods'>) | null
  /** When the offer ends. */
  readonly until: string | null
}

const open: ReadonlySet<Reason> = new Set(['connected', 'address_vouched', 'brought_in', 'directory_decides'])

/** One for each provider that the workspace has switched on, ended ones included. */
export async function providerWays(ctx: Ctx, facts: SignInFacts, address: string): Promise<ProviderWay[]> {
  return ctx.inWorkspace(facts.tenantId, async () => {
    const ways: ProviderWay[] = []
    for (const provider of await providersOn(ctx, facts.tenantId)) {
      const because = await reasonOf(ctx, facts, provider, address)
      const { methods } = facts.switches
      ways.push({
        provider: { id: provider.id, display_name: shownAs(provider) },
        isOpen: open.has(because),
        because,
        decidedBy: because === 'switched_off' ? { name: 'methods', ...methods } : null,
        until: provider.withdraw_at,
      })
    }
    return ways
  })
}

async function reasonOf(ctx: Ctx, facts: SignInFacts, provider: ProviderRow, address: string): Promise<Reason> {
  const { account, switches, workspaceState, tenantId } = facts
  if (workspaceState !== 'ACTIVE') return 'workspace_not_active'
  if (!switches.methods.value.includes('PROVIDER')) return 'switched_off'
  if (provider.state === 'ENDED') return 'offer_ended'
  if (!account) {
    const because = reasonOfStranger(provider, address)
    return because === 'not_invited' || (await admitsNewcomers(ctx, tenantId, provider)) ? because : 'no_role'
  }
  if (account.state !== 'DISABLED' && !account.hasRole) return 'no_role'
  if (account.state === 'ACTIVE' && (await isConnected(ctx, tenantId, provider.id, account.id))) return 'connected'
  const meeting = meetingOf(account, provider)
  if (meeting === 'connect') return 'address_vouched'
  if (meeting !== 'join') return meeting
  return (await isInvited(ctx, tenantId, account.id)) ? 'address_vouched' : 'invitation_ended'
}

/** Only the provider names the directory, so only a sign-in can tell. */
function reasonOfStranger(provider: ProviderRow, address: string): Reason {
  if (provider.provisioning === 'ANY') return 'brought_in'
  if (provider.provisioning === 'INVITED_ONLY') return 'not_invited'
  if (provider.allowed_directories.length > 0) return 'directory_decides'
  return isInDomains(provider, address) ? 'brought_in' : 'not_invited'
}

async function isConnected({ tx }: Ctx, tenantId: string, providerId: string, accountId: string): Promise<boolean> {
  const [row] = await tx`
    select 1 from connected_identity where tenant_id = ${tenantId} and provider_id = ${providerId} and account_id = ${accountId} limit 1`
  return row !== undefined
}

async function isInvited({ tx }: Ctx, tenantId: string, accountId: string): Promise<boolean> {
  const [row] = await tx`
    select 1 from invitation where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null and expires_at > now()
      and ${isIssued(tx, tx.part`created_at`)} limit 1`
  return row !== undefined
}
