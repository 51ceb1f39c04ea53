import { Flags } from '@oclif/core'
import { type AuditEntry, auditOperations } from '../../core/contract/audit/operations.ts'
import { CallerCommand } from '../base-command.ts'
import { pagesOf } from '../call/caller.ts'
import { spanFlags, spanOf } from '../input/span.ts'
import { moment } from '../render/moment.ts'
import { paramsInWords } from '../render/params.ts'
import { type Column, table } from '../render/table.ts'

const columns: readonly Column<AuditEntry>[] = [
  { head: 'WHEN', cell: ({ at }) => moment(at), whole: true },
  { head: 'ACTION', cell: ({ action }) => action, whole: true },
  { head: 'BY', cell: ({ actor }) => actor.account_id ?? actor.kind },
  { head: 'ON', cell: ({ subject }) => (subject === null ? '' : `${subject.kind} ${subject.id}`) },
  { head: 'DETAILS', cell: ({ params }) => paramsInWords(params).join(' ') },
]

export default class Audit extends CallerCommand {
  static override summary = "Read your workspace's trail, newest entry first"
  static override description =
    "For ADMINs. Entries hold ids, counts and times, never content. The installation's own record is `journal`."
  static override examples = [
    '<%= config.bin %> audit --since 24h',
    '<%= config.bin %> audit --action membership.granted --max 500 -o csv',
    '<%= config.bin %> audit --subject 0190c9d2-7a3b-7cde-8f01-23456789abcd --json',
  ]
  static override flags = {
    ...spanFlags,
    action: Flags.string({ summary: 'Only this action, e.g. container.created.' }),
    subject: Flags.string({ summary: 'Only what was done to this.', helpValue: 'ID' }),
    actor: Flags.string({ summary: 'Only what this account did.', helpValue: 'ID' }),
    max: Flags.integer({ summary: 'The maximum number of entries.', min: 1, default: 50 }),
  }

  async run(): Promise<{ data: AuditEntry[] }> {
    const { flags } = await this.parse(Audit)
    const { from, to } = spanOf(flags)
    const caller = await this.open(flags)
    const asked = {
      size: Math.min(flags.max, 200),
      ...(Number.isFinite(from) ? { from: new Date(from).toISOString() } : {}),
      ...(Number.isFinite(to) ? { until: new Date(to).toISOString() } : {}),
      ...(flags.action === undefined ? {} : { action: flags.action }),
      ...(flags.subject === undefined ? {} : { subject_id: flags.subject }),
      ...(flags.actor === undefined ? {} : { actor_id: flags.actor }),
    }
    const found: AuditEntry[] = []
    let isMore = false
    for await (const page of pagesOf(caller, auditOperations.listAuditEntries, asked)) {
      found.push(...page.data)
      isMore = page.next_cursor !== null || found.length > flags.max
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, columns, 'No entry matches.'))
    if (isMore) this.tell(`The newest ${flags.max}; --max shows more.`)
    return { data }
  }
}
