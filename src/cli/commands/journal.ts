import { setTimeout as pause } from 'node:timers/promises'
import { Flags } from '@oclif/core'
import { type JournalEntry, journalOperations } from '../../core/contract/journal/operations.ts'
import { operatorOperations } from '../../core/contract/operators/operations.ts'
import { CallerCommand } from '../base-command.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import { type JournalFilter, journalFilter, journalFilterFlags } from '../input/journal-filter.ts'
import { journalHead, journalLine, type NameOf } from '../render/journal.ts'

/** Seconds between two polls; each poll is one request of two milliseconds. */
const followSeconds = 2
const rememberedEntries = 1000

export default class Journal extends CallerCommand {
  static override summary = "Read the installation's journal, newest entry first"
  static override description =
    'Filters can be combined. With --follow, the newest entry comes last, and new entries are printed as they happen until Ctrl-C. With --follow --json, each entry is one line.'
  static override examples = [
    '<%= config.bin %> journal',
    '<%= config.bin %> journal --since 7d --workspace acme',
    "<%= config.bin %> journal --action 'operator.*' --actor ada@ops.example --all -o csv",
    '<%= config.bin %> journal --follow',
  ]
  static override flags = {
    size: Flags.integer({ summary: 'The number of entries.', min: 1, max: 200, default: 50 }),
    all: Flags.boolean({ summary: 'Print every entry.', exclusive: ['size', 'follow'] }),
    follow: Flags.boolean({ char: 'f', summary: 'Keep running and print new entries.' }),
    ...journalFilterFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Journal)
    const { since, until, action, workspace, actor } = flags
    const given = { since, until, action, workspace, actor }
    journalFilter(given, () => undefined) // a time that is none is refused before anything is asked
    const caller = await this.open(flags)
    const nameOf = this.jsonEnabled() && actor === undefined ? () => undefined : await operatorNames(caller)
    const filter = journalFilter(given, nameOf)
    if (flags.follow) return this.follow(caller, flags.size, filter, nameOf)
    return this.print(caller, flags.all ? Number.POSITIVE_INFINITY : flags.size, filter, nameOf)
  }

  /** Prints entries as they are read, so that a long record shows at once. */
  private async print(caller: Caller, most: number, filter: JournalFilter, nameOf: NameOf): Promise<unknown> {
    const entries: JournalEntry[] = []
    let cursor: string | null = null
    let shown = 0
    const size = filter.isEmpty ? Math.min(most, 200) : 200
    for await (const page of pagesOf(caller, journalOperations.listJournal, { size })) {
      const found = page.data.filter(filter.keeps).slice(0, most - shown)
      if (shown === 0 && found.length > 0) this.log(journalHead)
      for (const entry of found) this.log(journalLine(entry, nameOf))
      if (this.jsonEnabled()) entries.push(...found)
      shown += found.length
      cursor = filter.isEmpty ? page.next_cursor : null
      // Newest first: every entry behind one that is too old is older still.
      if (shown >= most || page.data.some(({ at }) => Date.parse(at) < filter.span.from)) break
    }
    if (shown === 0) this.log(filter.isEmpty ? 'The journal is empty.' : 'No entry matches.')
    return { data: entries, next_cursor: cursor }
  }

  /** Polls until a signal ends the process. */
  private async follow(caller: Caller, size: number, filter: JournalFilter, nameOf: NameOf): Promise<undefined> {
    const first = await caller.call(journalOperations.listJournal, { size })
    // An entry can be committed after a younger one. So entries are remembered by id, and each poll reads back to the first one.
    const beginsAt = first.data.at(-1)?.id ?? ''
    let seen: ReadonlySet<string> = new Set()
    this.log(journalHead)
    for (let fresh = first.data; ; fresh = await unseen(caller, seen, beginsAt)) {
      for (const entry of fresh.toReversed().filter(filter.keeps))
        this.printEntry(entry, () => journalLine(entry, nameOf))
      seen = new Set([...fresh.map(({ id }) => id), ...seen].slice(0, rememberedEntries))
      await pause(followSeconds * 1000)
    }
  }
}

/** What each operator of the register signs in as. Of accounts that have left it, the journal knows the ids. */
async function operatorNames(caller: Caller): Promise<NameOf> {
  const { data } = await caller.call(operatorOperations.listOperators, {})
  const names = new Map(
    data.map(({ account_id, sign_in_name, name }) => [account_id, sign_in_name ?? name ?? undefined]),
  )
  return (accountId) => names.get(accountId)
}

/** Entries that are neither in `seen` nor older than `beginsAt`, newest first; ids are ordered by time. */
async function unseen(caller: Caller, seen: ReadonlySet<string>, beginsAt: string): Promise<JournalEntry[]> {
  const fresh: JournalEntry[] = []
  for await (const { data } of pagesOf(caller, journalOperations.listJournal, { size: 50 })) {
    const unknown = data.filter(({ id }) => !seen.has(id) && id > beginsAt)
    fresh.push(...unknown)
    if (unknown.length < data.length) break
  }
  return fresh
}
