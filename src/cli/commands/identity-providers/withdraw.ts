import { Args, Flags } from '@oclif/core'
import {
  identityProviderOperations,
  type OfferedProvider,
  type WithdrawalPlan,
  withdrawalPlanOperations,
} from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findProvider, shownAs } from '../../find/identity-providers.ts'
import { confirmByName } from '../../input/prompts.ts'
import { passwordFlags } from '../../input/secret-input.ts'
import { moment } from '../../render/moment.ts'
import { plannedWithdrawal } from '../../render/withdrawal-plan.ts'

export default class IdentityProvidersWithdraw extends CallerCommand {
  static override summary = 'End the offer of an identity provider, in 14 days, at a given time, or now'
  static override description =
    'Sends mail to the administrators of each workspace that has the provider on. Until the end it works as before. ' +
    '--plan only lists the accounts that could not sign in any more. --apply HASH continues only if that plan still holds. ' +
    'A time less than a day ahead ends the offer now. To end it now, type how many workspaces have the provider on. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> identity-providers withdraw "Acme SSO" --plan',
    '<%= config.bin %> identity-providers withdraw "Acme SSO" --at 2031-01-31T12:00:00Z',
    '<%= config.bin %> identity-providers withdraw "Acme SSO" --now --apply 5f3a90c1d2e4b678 --confirm 12',
  ]
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }
  static override flags = {
    plan: Flags.boolean({
      summary: 'Show the affected workspaces and accounts, and change nothing.',
      exclusive: ['apply', 'now', 'at'],
    }),
    apply: Flags.string({ summary: 'Continue only if the plan still has this hash.', helpValue: 'HASH' }),
    at: Flags.string({ summary: 'When the offer ends.', helpValue: 'MOMENT', exclusive: ['now'] }),
    now: Flags.boolean({ summary: 'End the offer now.' }),
    confirm: Flags.string({
      summary: 'Confirm without a prompt: the number of workspaces that have it on.',
      helpValue: 'COUNT',
    }),
    ...passwordFlags,
  }

  async run(): Promise<WithdrawalPlan | OfferedProvider> {
    const { args, flags } = await this.parse(IdentityProvidersWithdraw)
    const caller = await this.open(flags)
    const { id: providerId } = await findProvider(caller, args.provider)
    const plan = await caller.call(withdrawalPlanOperations.getWithdrawalPlan, { providerId })
    if (flags.plan) {
      await this.show(() => plannedWithdrawal(plan))
      this.tell(`\nTo continue: svc identity-providers withdraw ${providerId} --apply ${plan.hash}`)
      return plan
    }
    if (flags.apply !== undefined && flags.apply !== plan.hash)
      throw new Failure(
        'conflict',
        `The plan ${flags.apply} is outdated; the plan is now ${plan.hash}. Nothing was done.`,
        `To see what changed: svc identity-providers withdraw ${providerId} --plan`,
      )
    const at = flags.now ? new Date().toISOString() : flags.at
    if (isWithinADay(at)) await this.confirmNow(plan, flags.confirm)

    const provider = await this.callProven(
      caller,
      identityProviderOperations.withdrawIdentityProvider,
      {
        providerId,
        body: {
          ...(at === undefined ? {} : { withdraw_at: at }),
          confirm_count: plan.workspaces_on,
          plan_hash: plan.hash,
        },
      },
      flags,
    )
    const when = moment(provider.withdraw_at)
    this.tell(
      provider.state === 'ENDED'
        ? `The offer of ${shownAs(provider)} has ended.`
        : `The offer of ${shownAs(provider)} ends ${when}.`,
    )
    this.tell(`To cancel this: svc identity-providers cancel-withdrawal ${providerId}`)
    return provider
  }

  private async confirmNow(plan: WithdrawalPlan, confirmed: string | undefined): Promise<void> {
    if (confirmed === undefined) this.tell(await plannedWithdrawal(plan))
    const what = `From now on nobody can sign in through ${shownAs(plan)}, in ${plan.workspaces_on} workspace(s).`
    await confirmByName(String(plan.workspaces_on), what, confirmed)
  }
}

const day = 86_400_000

/** By the clock of this machine; the database's clock decides, and the API refuses a call without the count. */
const isWithinADay = (at: string | undefined) => at !== undefined && Date.parse(at) < Date.now() + day
