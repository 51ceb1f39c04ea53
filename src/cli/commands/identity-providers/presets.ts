import { type PresetAnswer, providerOperations } from '../../../core/contract/providers/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<PresetAnswer>[] = [
  { head: 'KIND', cell: ({ kind }) => kind, whole: true },
  { head: 'NAME', cell: ({ display_name }) => display_name },
  { head: 'ISSUER', cell: ({ issuer }) => issuer, whole: true },
  { head: 'DIRECTORY CLAIM', cell: ({ directory_claim }) => directory_claim ?? '' },
]

export default class IdentityProvidersPresets extends CallerCommand {
  static override summary = 'List the well-known identity providers and their issuers'
  static override examples = ['<%= config.bin %> identity-providers presets']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(IdentityProvidersPresets)
    const answer = await (await this.open(flags)).call(providerOperations.listPresets, {})
    await this.show(() => table(answer.data, columns, 'There is no preset.'))
    return answer
  }
}
