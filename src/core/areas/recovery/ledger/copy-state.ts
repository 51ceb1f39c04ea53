/** Which lines of the ledgers the targets have, read from the targets themselves. */

import type { TargetKind } from '../../../contract/backup/operations.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { withStore } from '../../backup/open-store.ts'
import { type FailureReason, type Store, storeFailure } from '../../backup/store.ts'
import { holds, ledgersFolder, type Page, type PageName, readPagePath, readPages } from './ledger-pages.ts'
import { type LedgerTarget, readTargets } from './ledger-targets.ts'

const system = { kind: 'SYSTEM', job: 'ledger_copies' } as const

export interface CopyState {
  readonly target_id: string
  readonly name: string
  readonly kind: TargetKind
  /** How many lines of this host's ledger it lacks; null if it cannot be read, or if the ledger is not intact. */
  readonly lines_missing: number | null
  readonly failed: FailureReason | null
}

/** The state of the copies at every target of the installation. Changes nothing. */
export async function lookAtCopies(installation: Installation): Promise<readonly CopyState[]> {
  const targets = await installation.transaction(system, { readOnly: true }, readTargets)
  // If the ledger is not intact, the missing lines cannot be counted; that is a finding of its own.
  const pages = await readPages(installation.ledger.file, { from: 0 }).then(
    (read) => read.pages,
    () => undefined,
  )
  return Promise.all(targets.map((target) => stateOf(installation, target, pages)))
}

async function stateOf(
  installation: Installation,
  target: LedgerTarget,
  pages: readonly Page[] | undefined,
): Promise<CopyState> {
  const { id: target_id, name, kind } = target
  try {
    const lines_missing = await withStore(installation, target.open(), (store) =>
      countMissing(installation, store, pages),
    )
    return { target_id, name, kind, lines_missing, failed: null }
  } catch (error) {
    return { target_id, name, kind, lines_missing: null, failed: storeFailure(error).reason }
  }
}

/** A ledger of which a target has more lines than were read here. */
export interface UnreadLedger {
  readonly name: string
  readonly lineage: string
  readonly lines: number
}

export interface Unread {
  readonly unread: readonly UnreadLedger[]
  readonly failed: readonly { readonly name: string; readonly reason: FailureReason }[]
}

/** The ledgers at the installation's targets that were not read, e.g. those of a lost host. Changes nothing. */
export async function findUnread(
  installation: Installation,
  read: readonly { readonly lineage: string; readonly last: number }[],
): Promise<Unread> {
  const targets = await installation.transaction(system, { readOnly: true }, readTargets)
  const unread: UnreadLedger[] = []
  const failed: Unread['failed'][number][] = []
  for (const target of targets) {
    const { name } = target
    const lasts = new Map<string, number>()
    try {
      await withStore(installation, target.open(), async (store) => {
        for (const { lineage, last } of await copiesBelow(installation, store))
          lasts.set(lineage, Math.max(last, lasts.get(lineage) ?? 0))
      })
    } catch (error) {
      failed.push({ name, reason: storeFailure(error).reason })
    }
    for (const [lineage, lines] of lasts)
      if (!read.some((one) => one.lineage.startsWith(lineage) && one.last >= lines))
        unread.push({ name, lineage, lines })
  }
  return { unread, failed }
}

async function copiesBelow({ identity }: Installation, store: Store, lineage?: string): Promise<PageName[]> {
  const root = ledgersFolder(identity.id)
  const copies: PageName[] = []
  for await (const { path } of store.list(lineage === undefined ? root : `${root}/${lineage}`)) {
    const copy = readPagePath(path.slice(root.length + 1))
    if (copy) copies.push(copy)
  }
  return copies
}

async function countMissing(
  installation: Installation,
  store: Store,
  pages: readonly Page[] | undefined,
): Promise<number | null> {
  if (!pages) return null
  const [lineage] = pages.map((page) => page.lineage)
  if (lineage === undefined) return 0
  const copies = await copiesBelow(installation, store, lineage)
  return pages.reduce((sum, page) => {
    const lasts = copies.filter((copy) => holds(page, copy)).map(({ last }) => last)
    return sum + page.last - Math.max(page.first - 1, ...lasts)
  }, 0)
}
