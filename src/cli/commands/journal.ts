import { setTimeout as pause } from 'node:timers/promises'
import { Flags } from '@oclif/core'
import { type JournalEntry, journalOperations } from '../../core/contract/journal/operations.ts'
import { CallerCommand } from '../base-command.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import {
  type AskedJournal,
  askedActor,
  askedJournal,
  journalFilterFlags,
  operatorNames,
} from '../input/journal-filter.ts'
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
    const narrowed = askedJournal(flags)
    const caller = await this.open(flags)
    const names = this.jsonEnabled() && flags.actor === undefined ? new Map() : await operatorNames(caller)
    const asked = { ...narrowed, ...askedActor(flags.actor, names) }
    const nameOf: NameOf = (accountId) => names.get(accountId)
    if (flags.follow) return this.follow(caller, flags.size, asked, nameOf)
    return this.print(caller, flags.all ? Number.POSITIVE_INFINITY : flags.size, asked, nameOf)
  }

  /** Prints entries as they are read, so that a long record shows at once. */
  private async print(caller: Caller, most: number, asked: AskedJournal, nameOf: NameOf): Promise<unknown> {
    const entries: JournalEntry[] = []
    let cursor: string | null = null
    let shown = 0
    const paged = { ...asked, size: Math.min(most, 200) }
    for await (const { data, next_cursor } of pagesOf(caller, journalOperations.listJournal, paged)) {
      const found = data.slice(0, most - shown)
      if (shown === 0 && found.length > 0) this.log(journalHead())
      for (const entry of found) this.log(journalLine(entry, nameOf))
      if (this.jsonEnabled()) entries.push(...found)
      shown += found.length
      cursor = next_cursor
      if (shown >= most) break
    }
    if (shown === 0) this.log(Object.keys(asked).length === 0 ? 'The journal is empty.' : 'No entry matches.')
    return { data: entries, next_cursor: cursor }
  }

  /** Polls until a signal ends the process. */
  private async follow(caller: Caller, size: number, asked: AskedJournal, nameOf: NameOf): Promise<undefined> {
    const first = await caller.call(journalOperations.listJournal, { ...asked, size })
    // An entry can be committed after a younger one. So entries are remembered by id, and each poll reads back to the first one.
    const oldest = first.data.at(-1)
    let seen: ReadonlySet<string> = new Set()
    this.log(journalHead())
    for (let fresh = first.data; ; fresh = await unseen(caller, asked, oldest, seen)) {
      for (const entry of fresh.toReversed()) this.printEntry(entry, () => journalLine(entry, nameOf))
      seen = new Set([...fresh.map(({ id }) => id), ...seen].slice(0, rememberedEntries))
      await pause(followSeconds * 1000)
    }
  }
}

/** Entries that are not in `seen` and follow `oldest`, newest first. Ids tell those of one moment apart. */
async function unseen(
  caller: Caller,
  asked: AskedJournal,
  oldest: JournalEntry | undefined,
  seen: ReadonlySet<string>,
): Promise<JournalEntry[]> {
  const fresh: JournalEntry[] = []
  const newer = { ...asked, ...(oldest ? { from: oldest.at } : {}), size: 50 }
  for await (const { data } of pagesOf(caller, journalOperations.listJournal, newer)) {
    const unknown = data.filter(({ id, at }) => !seen.has(id) && (!oldest || at > oldest.at || id > oldest.id))
    fresh.push(...unknown)
    if (unknown.length < data.length) break
  }
  return fresh
}
