/** What a package says of itself: whose data, since when, who got some, how long they are kept, which rights there are. Spec: Keeping, 2; GDPR art. 15. */

import type { RequestKind } from '../../../contract/privacy/requests.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { longestMonthDays } from '../../../kernel/transaction/months.ts'
import { readSettings } from '../../settings/settings.ts'
import { type Recipient, readRecipients } from '../recipients.ts'
import type { Section } from './content.ts'

export interface Facts {
  readonly kind: 'ACCESS' | 'PORTABILITY'
  readonly accountId: string | null
  readonly workspace: string
  readonly madeAt: string
  readonly privacyUrl: string | null
  readonly recipients: readonly Recipient[]
  readonly outboxDays: number
}

interface FactsRow {
  readonly kind: RequestKind
  readonly account_id: string | null
}

export async function readFacts(ctx: Ctx, tenantId: string, requestId: string): Promise<Facts | undefined> {
  const [row] = await ctx.tx<FactsRow[]>`
    select kind, account_id from privacy_request where tenant_id = ${tenantId} and id = ${requestId}`
  const [tenant] = await ctx.tx<{ display_name: string; now: string }[]>`
    select display_name, now() as now from tenant where id = ${tenantId}`
  if (!row || !tenant) return undefined
  const { legal } = await readSettings(ctx)
  return {
    kind: row.kind === 'PORTABILITY' ? 'PORTABILITY' : 'ACCESS',
    accountId: row.account_id,
    workspace: tenant.display_name,
    madeAt: tenant.now,
    privacyUrl: legal.privacy_url,
    recipients: await readRecipients(ctx, tenantId, row.account_id),
    outboxDays: ctx.config.outboxDays,
  }
}

/** JSON for people and programs. */
export const aboutOf = (facts: Facts, sections: readonly Section[]): string =>
  `${JSON.stringify(
    {
      format: 'svc/privacy-package/1',
      kind: facts.kind,
      workspace: facts.workspace,
      account_id: facts.accountId,
      made_at: facts.madeAt,
      privacy_url: facts.privacyUrl,
      files: Object.fromEntries(sections.map(({ name, says }) => [`${name}.jsonl`, says])),
      others: 'Accounts of others are person_1, person_2 and so on, numbered for this package.',
      recipients: facts.recipients,
      sources:
        'Entered by the person, by people who work in the workspace, or given by an identity provider at a sign-in.',
      retention: {
        trash_days: 'as the collection says; 30 where it says nothing',
        // With the rest of their month.
        events_days: facts.outboxDays + longestMonthDays,
        backups: 'as the schedules of the workspace and of the installation keep them',
      },
      rights: [
        'rectification (GDPR art. 16)',
        'erasure (art. 17)',
        'restriction (art. 18)',
        'portability (art. 20)',
        'objection (art. 21)',
        'complaint to a supervisory authority (art. 77)',
      ],
    },
    undefined,
    2,
  )}\n`
