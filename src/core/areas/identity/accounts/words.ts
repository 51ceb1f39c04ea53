/** Writes the words of accounts that lack them: of accounts of before, and of those that older code named. Spec: docs/decisions/0376. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { workspacesThat } from '../../../kernel/transaction/workspaces.ts'
import { type Worded, writeWords } from '../../access/account-words.ts'
import { otherAddressesOf } from '../../access/addresses.ts'

const worder = { kind: 'SYSTEM', job: 'word_accounts' } as const
/** Accounts of one transaction, so that none lasts long. */
const portion = 200
const runMs = 9 * 60_000

/** The condition of the index `account_unworded`, written as the index has it. */
const isUnworded = (tx: Tx): Part =>
  tx.part`worded is distinct from (coalesce(display_name, '') || ' ' || coalesce(email, ''))`

/** Workspace by workspace. Killed anywhere, the next run goes on where it stopped. */
export const wordAccounts = defineJob({
  name: 'word_accounts',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  longestSeconds: 600,
  cron: '*/10 * * * *',
  async run(installation) {
    const until = performance.now() + runMs
    for await (const tenantId of workspacesThat(installation, worder, hasUnworded))
      if (!(await wordWorkspace(installation, tenantId, until))) return
  },
})

/** Whether a workspace has accounts without their words. */
async function hasUnworded({ tx }: Ctx, tenantId: string): Promise<boolean> {
  return (await tx`select 1 from account where tenant_id = ${tenantId} and ${isUnworded(tx)} limit 1`).length > 0
}

/** Answers false where the time of the run is over. After each portion it rests for as long as that took. */
async function wordWorkspace(installation: Installation, tenantId: string, until: number): Promise<boolean> {
  for (let isMore = true; isMore; ) {
    const began = performance.now()
    if (began > until) return false
    isMore = await installation.transaction(worder, { tenantId }, (ctx) => wordPortion(ctx, tenantId))
    await pause(Math.min(performance.now() - began, 100))
  }
  return true
}

/** Answers whether there may be more. */
async function wordPortion(ctx: Ctx, tenantId: string): Promise<boolean> {
  const { tx } = ctx
  const accounts = await tx<(Worded & { readonly id: string })[]>`
    select a.id, a.display_name, a.email, ${otherAddressesOf(tx)} as others from account a
    where a.tenant_id = ${tenantId} and ${isUnworded(tx)}
    order by a.id limit ${portion} for update of a`
  for (const account of accounts) writeWords(ctx, tenantId, account.id, account)
  return accounts.length === portion
}
