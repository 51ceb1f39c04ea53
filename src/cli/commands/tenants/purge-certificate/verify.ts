import { Args } from '@oclif/core'
import { type PurgeVerification, purgeOperations } from '../../../../core/contract/retention/operations.ts'
import { CallerCommand } from '../../../base-command.ts'
import { exitCodes } from '../../../failure.ts'
import { findCertificate } from '../../../find/purge-certificates.ts'
import { table } from '../../../render/table.ts'

export default class TenantsPurgeCertificateVerify extends CallerCommand {
  static override summary = 'Verify the certificate of a purge, and check again whether any data is left'
  static override description =
    'Reads every table, the queue and the media folder. Exits 8 if the signature is wrong or data is left.'
  static override examples = ['<%= config.bin %> tenants purge-certificate verify acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: 'the slug the workspace had, or its id' }),
  }

  async run(): Promise<PurgeVerification> {
    const { args, flags } = await this.parse(TenantsPurgeCertificateVerify)
    const caller = await this.open(flags)
    const { tenant_id: tenantId } = await findCertificate(caller, args.workspace)
    const answer = await caller.call(purgeOperations.verifyPurgeCertificate, { tenantId })
    this.log(
      await table(
        answer.scanned,
        [
          { head: 'PLACE', cell: ({ place }) => place, whole: true },
          { head: 'LEFT', cell: ({ left }) => String(left), align: 'right' },
        ],
        '',
      ),
    )
    for (const { code, params } of answer.findings) this.log(`\n${findingInWords(code, params)}`)
    if (answer.ok) this.tell('\nThe signature is valid, and no data is left.')
    else process.exitCode = exitCodes.findings
    return answer
  }
}

type Params = Readonly<Record<string, unknown>>

const findings: Readonly<Record<string, (params: Params) => string>> = {
  'document.other_workspace': () => 'The certificate names another workspace.',
  'journal.entries': ({ found }) => `The journal holds ${found} entries of this purge instead of one.`,
  'data.left': (params) => `Data is left: ${JSON.stringify(params)}.`,
}

/** A finding in words; an unknown code is shown as it is. */
const findingInWords = (code: string, params: Params) => findings[code]?.(params) ?? `${code} ${JSON.stringify(params)}`
