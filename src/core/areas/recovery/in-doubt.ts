/**
 * Lines of the ledger whose outcome nobody wrote down, because the process was killed or the
 * answer to its commit was lost: looked up in the database, where that was not rewound.
 */

import type { Obligation } from '../../contract/obligation.ts'
import { readLedger } from '../../kernel/ledger/ledger.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'

/** A transaction may still be on its way; none lasts as long as this. */
const settlesMs = 60_000

/** Settles what is old enough. Never after a rewind: there the database does not know. */
export async function settleUnknown(installation: Installation): Promise<void> {
  const { ledger, keyring, clock } = installation
  const { obligations } = await readLedger(ledger.file, keyring)
  const before = new Date(clock.now() - settlesMs).toISOString()
  for (const { seq, at, act, isSettled } of obligations) {
    if (isSettled || at > before) continue
    const [row] = await installation.transaction({ kind: 'SYSTEM', job: 'settle' }, { readOnly: true }, (ctx) =>
      isTrue(ctx, act, at),
    )
    await ledger.settle([seq], row?.is_true ? 'done' : 'void')
  }
}

function isTrue({ tx }: Ctx, act: Obligation, at: string): Promise<{ is_true: boolean }[]> {
  switch (act.act) {
    case 'hold.placed':
      return tx`select exists (select from legal_hold where tenant_id = ${act.tenant_id} and id = ${act.id}) as is_true`
    case 'hold.released':
      return tx`
        select exists (select from legal_hold where tenant_id = ${act.tenant_id} and id = ${act.id} and released_at is not null) as is_true`
    case 'workspace.purged':
      return tx`select exists (select from purge_certificate where workspace_id = ${act.tenant_id}) as is_true`
    case 'operator.added':
      return tx`select exists (select from operator where account_id = ${act.account_id}) as is_true`
    case 'operator.removed':
      return tx`select not exists (select from operator where account_id = ${act.account_id}) as is_true`
    case 'account.left':
      // Of a role given since then it is as true as before: whoever has one newer than the line has left.
      return tx`
        select not exists (select from membership where tenant_id = ${act.tenant_id} and account_id = ${act.account_id}
                           and created_at <= ${at}::timestamptz) as is_true`
    case 'token.revoked':
      return tx`
        select exists (select from credential where tenant_id = ${act.tenant_id} and id = ${act.id} and revoked_at is not null) as is_true`
  }
}
