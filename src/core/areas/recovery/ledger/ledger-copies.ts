/**
 * Copies of the ledger at the installation's backup targets, in case the host is lost.
 *
 *    obligations on the disk ──▶ at one target at least ──▶ commit ──▶ settled, tidied, the other targets
 *                                     │
 *                                     └─ none within 5 s   SVC_LEDGER_COPY=require: the act is refused
 *                                                          SVC_LEDGER_COPY=report:  it goes on, and is a finding
 *
 * An installation without a target of its own has the local ledger only. Every target gets
 * every line. An act waits until the first target has it, so one of two targets may be
 * unreachable. Concurrent acts share a copy. The act's own transaction reads the targets, so
 * no act waits for a target that was just removed.
 *
 * Elsewhere: what is written (ledger-pages.ts), reading it back (ledger-pull.ts), whether the
 * targets have all lines (copy-state.ts). Ours: The obligation ledger; docs/decisions/0043.
 */
import { rm, writeFile } from 'node:fs/promises'
import { LedgerUnavailable } from '../../../kernel/ledger/ledger.ts'
import type { Installation, LedgerCopies } from '../../../kernel/transaction/installation.ts'
import { withTimeout } from '../../../kernel/values/deadline.ts'
import { withStore } from '../../backup/open-store.ts'
import { type FailureReason, type Store, storeFailure } from '../../backup/store.ts'
import { fileName, folderOf, holds, isFull, ledgersFolder, type Page, readPagePath, readPages } from './ledger-pages.ts'
import { type LedgerTarget, readTargets } from './ledger-targets.ts'

const system = { kind: 'SYSTEM', job: 'ledger_copies' } as const

/** How long an act waits: less than the database's limit for an idle transaction (10 s). */
const aheadMs = 5_000

/** With SVC_LEDGER_COPY=report, how long acts do not wait for a target that has failed, in milliseconds. */
const restMs = 30_000

/** How long the list of a target's copies stays valid, in milliseconds: a copy may be removed at the target. */
const rememberedMs = 600_000

export function openLedgerCopies(installation: Installation): LedgerCopies {
  const holders = new Map<string, Holder>()
  let used: readonly LedgerTarget[] = []
  const holderOf = (target: LedgerTarget) => {
    const known = holders.get(target.id)
    if (known) return known
    const made = openHolder(installation)
    holders.set(target.id, made)
    return made
  }

  const bringTo = async (targets: readonly LedgerTarget[]) => {
    const failures: Record<string, FailureReason> = {}
    const bring = async (target: LedgerTarget) => {
      try {
        await holderOf(target).bring(target)
        await holderOf(target).tidy(target)
      } catch (error) {
        // By id: people write a target's name, so it must not be in a log.
        failures[target.id] = storeFailure(error).reason
      }
    }
    await Promise.all(targets.map(bring))
    return failures
  }

  return {
    async follow() {
      return bringTo(await installation.transaction(system, { readOnly: true }, readTargets))
    },

    async ahead(ctx) {
      const targets = await readTargets(ctx)
      used = targets
      const { ledgerCopy } = ctx.config
      return async () => {
        const awaited = targets.filter((target) => ledgerCopy === 'require' || !holderOf(target).isResting())
        if (awaited.length === 0) return
        try {
          await withTimeout(aheadMs, Promise.any(awaited.map((target) => holderOf(target).bring(target))))
        } catch (cause) {
          if (ledgerCopy === 'report') return
          throw new LedgerUnavailable('no backup target has taken the copy of the obligation', { cause })
        }
      }
    },

    async close() {
      if (used.length > 0) await withTimeout(aheadMs, bringTo(used)).catch(() => {})
    },
  }
}

/** What this process knows of one target's copies, and the copy under way. */
interface Holder {
  /** Resolves when the target has all lines that are on the disk now. Throws StoreFailure. */
  bring(target: LedgerTarget): Promise<void>
  /** Removes copies whose lines are in later copies. */
  tidy(target: LedgerTarget): Promise<void>
  isResting(): boolean
}

interface There {
  readonly lineage: string
  /** Where the first page that may still grow begins, in bytes. */
  from: number
  /** The copies of pages from there on, by their folder. */
  readonly copies: Set<string>
  readonly outdated: Set<string>
  readonly askedAt: number
}

function openHolder(installation: Installation): Holder {
  let there: There | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  const copy = async (target: LedgerTarget) => {
    if (there && performance.now() - there.askedAt > rememberedMs) there = undefined
    try {
      const { lineage, pages } = await readPages(installation.ledger.file, there ?? { from: 0 })
      if (lineage === undefined) return
      if (there?.lineage === lineage && pages.every((page) => there?.copies.has(folderOf(page)))) return
      const opened = target.open()
      await withStore(installation, opened, async (store) => {
        if (there?.lineage !== lineage) there = await survey(installation, store, lineage)
        for (const page of pages) await putPage(installation, store, there, page)
      })
      failedAt = Number.NEGATIVE_INFINITY
    } catch (error) {
      failedAt = performance.now()
      throw error
    }
  }

  return {
    // One copy at a time. All callers that come meanwhile share the next one: it reads the disk after they wrote.
    bring(target) {
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          running = copy(target)
          return running
        })
      return next
    },

    async tidy(target) {
      const outdated = [...(there?.outdated ?? [])]
      if (outdated.length === 0) return
      await withStore(installation, target.open(), async (store) => {
        for (const folder of outdated) {
          await store.remove(`${ledgersFolder(installation.identity.id)}/${folder}`)
          there?.outdated.delete(folder)
          there?.copies.delete(folder)
        }
      })
    },

    isResting: () => performance.now() - failedAt < restMs,
  }
}

/** The copies of a ledger that a target already has. */
async function survey({ identity }: Installation, store: Store, lineage: string): Promise<There> {
  const root = ledgersFolder(identity.id)
  const copies = new Set<string>()
  for await (const { path } of store.list(`${root}/${lineage}`)) {
    const name = readPagePath(path.slice(root.length + 1))
    if (name) copies.add(folderOf(name))
  }
  return { lineage, from: 0, copies, outdated: new Set(), askedAt: performance.now() }
}

async function putPage(installation: Installation, store: Store, there: There, page: Page): Promise<void> {
  const folder = folderOf(page)
  if (!there.copies.has(folder)) {
    const draft = `${installation.ledger.file}.page-${process.pid}-${crypto.randomUUID()}`
    try {
      await writeFile(draft, page.text, { mode: 0o600, flag: 'wx' })
      // Another process may copy the same page now: each writes aside under a name of its own.
      const place = `${ledgersFolder(installation.identity.id)}/${folder}`
      await store.put(`${place}/${fileName}`, draft, `${place}/${crypto.randomUUID()}`)
    } finally {
      await rm(draft, { force: true })
    }
    there.copies.add(folder)
  }
  for (const other of there.copies) {
    const name = readPagePath(`${other}/${fileName}`)
    if (name && other !== folder && holds(page, name)) there.outdated.add(other)
  }
  if (isFull(page)) there.from = Math.max(there.from, page.to)
}
