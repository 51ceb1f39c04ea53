import { setTimeout as pause } from 'node:timers/promises'
import { Flags } from '@oclif/core'
import { type JournalEntry, journalOperations } from '../../core/contract/journal/operations.ts'
import { writeJson } from '../../core/kernel/values/json.ts'
import { CallerCommand } from '../base-command.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import { journalLine } from '../render/journal.ts'
import { printableLines } from '../render/printable.ts'

/** Seconds between two polls; each poll is one request of two milliseconds. */
const followSeconds = 2
const rememberedEntries = 1000

export default class Journal extends CallerCommand {
  static override summary = "Read the installation's journal, newest entry first"
  static override description =
    'With --follow, the newest entry comes last, and new entries are printed as they happen until Ctrl-C. With --follow --json, each entry is one line.'
  static override examples = [
    '<%= config.bin %> journal',
    '<%= config.bin %> journal --size 200 --json',
    '<%= config.bin %> journal --follow',
  ]
  static override flags = {
    size: Flags.integer({ summary: 'The number of entries.', min: 1, max: 200, default: 50 }),
    all: Flags.boolean({ summary: 'Print every entry.', exclusive: ['size', 'follow'] }),
    follow: Flags.boolean({ char: 'f', summary: 'Keep running and print new entries.' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Journal)
    const caller = await this.open(flags)
    if (flags.follow) return this.follow(caller, flags.size)
    if (flags.all) return this.all(caller)
    const page = await caller.call(journalOperations.listJournal, { size: flags.size })
    this.log(page.data.length === 0 ? 'The journal is empty.' : page.data.map(journalLine).join('\n'))
    return page
  }

  private async all(caller: Caller): Promise<unknown> {
    const entries: JournalEntry[] = []
    for await (const page of pagesOf(caller, journalOperations.listJournal, { size: 200 })) {
      for (const entry of page.data) this.log(journalLine(entry))
      if (this.jsonEnabled()) entries.push(...page.data)
    }
    return { data: entries, next_cursor: null }
  }

  /** Polls until a signal ends the process. */
  private async follow(caller: Caller, size: number): Promise<undefined> {
    const first = await caller.call(journalOperations.listJournal, { size })
    // An entry can be committed after a younger one. So entries are remembered by id, and each poll reads back to the first one.
    const beginsAt = first.data.at(-1)?.id ?? ''
    let seen: ReadonlySet<string> = new Set()
    for (let fresh = first.data; ; fresh = await unseen(caller, seen, beginsAt)) {
      for (const entry of fresh.toReversed())
        process.stdout.write(`${this.jsonEnabled() ? printableLines(writeJson(entry) ?? '') : journalLine(entry)}\n`)
      seen = new Set([...fresh.map(({ id }) => id), ...seen].slice(0, rememberedEntries))
      await pause(followSeconds * 1000)
    }
  }
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
