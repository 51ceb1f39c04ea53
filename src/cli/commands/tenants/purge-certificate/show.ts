import { Args } from '@oclif/core'
import type { PurgeCertificate } from '../../../../core/contract/retention/operations.ts'
import { CallerCommand } from '../../../base-command.ts'
import { findCertificate } from '../../../find/purge-certificates.ts'
import { details } from '../../../render/details.ts'
import { moment } from '../../../render/moment.ts'
import { table } from '../../../render/table.ts'

/** The members of the signed document that are shown; the format is in docs/decisions/0021. */
interface CertificateDocument {
  readonly deletion_requested_at: string
  readonly purge_after: string
  readonly purge_started_at: string
  readonly slug_blocked_until: string
  readonly holds: { readonly checks: number }
  readonly removed: readonly { readonly place: string; readonly count: number; readonly sha256: string }[]
}

export default class TenantsPurgeCertificateShow extends CallerCommand {
  static override summary = 'Show what the purge of a workspace removed'
  static override examples = ['<%= config.bin %> tenants purge-certificate show acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: 'the slug the workspace had, or its id' }),
  }

  async run(): Promise<PurgeCertificate> {
    const { args, flags } = await this.parse(TenantsPurgeCertificateShow)
    const certificate = await findCertificate(await this.open(flags), args.workspace)
    const document = JSON.parse(certificate.document) as CertificateDocument
    this.log(
      details([
        ['workspace', certificate.slug],
        ['id', certificate.tenant_id],
        ['deletion asked', moment(document.deletion_requested_at)],
        ['deadline', moment(document.purge_after)],
        ['purge began', moment(document.purge_started_at)],
        ['purged', moment(certificate.purged_at)],
        ['slug blocked until', moment(document.slug_blocked_until)],
        ['checks for holds', `${document.holds.checks}, no hold was in force`],
        ['signed with', `${certificate.signature.algorithm}, derived from keyring key ${certificate.signature.key_id}`],
      ]),
    )
    this.log('')
    this.log(
      await table(
        document.removed.filter(({ count }) => count > 0),
        [
          { head: 'REMOVED', cell: ({ place }) => place, whole: true },
          { head: 'ROWS', cell: ({ count }) => String(count), align: 'right' },
          { head: 'SHA-256 OF THEIR KEYS', cell: ({ sha256 }) => sha256 },
        ],
        'Nothing was left to remove.',
      ),
    )
    return certificate
  }
}
