/** Whether every target has the whole ledger: asked of the targets themselves. */

import type { TargetKind } from '../backup/contract.ts'
import { withStore } from '../backup/open-store.ts'
import { type FailureReason, type Store, storeFailure } from '../backup/store.ts'
import type { Installation } from '../installation.ts'
import { holds, ledgersFolder, type Page, type PageName, readPagePath, readPages } from './ledger-pages.ts'
import { type LedgerTarget, readTargets } from './ledger-targets.ts'

export interface CopyState {
  readonly target_id: string
  readonly name: string
  readonly kind: TargetKind
  /** How many lines of this host's ledger it lacks; null where it could not be asked. */
  readonly lines_missing: number | null
  readonly failed: FailureReason | null
}

/** Of every target of the installation. Looks only. */
export async function lookAtCopies(installation: Installation): Promise<readonly CopyState[]> {
  const targets = await installation.transaction(
    { kind: 'SYSTEM', job: 'ledger_copies' },
    { readOnly: true },
    readTargets,
  )
  const { pages } = await readPages(installation.ledger.file, { from: 0 })
  return Promise.all(targets.map((target) => stateOf(installation, target, pages)))
}

async function stateOf(installation: Installation, target: LedgerTarget, pages: readonly Page[]): Promise<CopyState> {
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

async function countMissing({ identity }: Installation, store: Store, pages: readonly Page[]): Promise<number> {
  const [lineage] = pages.map((page) => page.lineage)
  if (lineage === undefined) return 0
  const root = ledgersFolder(identity.id)
  const copies: PageName[] = []
  for await (const { path } of store.list(`${root}/${lineage}`)) {
    const copy = readPagePath(path.slice(root.length + 1))
    if (copy) copies.push(copy)
  }
  return pages.reduce((sum, page) => {
    const lasts = copies.filter((copy) => holds(page, copy)).map(({ last }) => last)
    return sum + page.last - Math.max(page.first - 1, ...lasts)
  }, 0)
}
