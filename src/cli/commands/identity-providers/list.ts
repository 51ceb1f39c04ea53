import { identityProviderOperations, type OfferedProvider } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { shownAs, stateOf } from '../../find/identity-providers.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<OfferedProvider>[] = [
  { head: 'NAME', cell: shownAs },
  { head: 'KIND', cell: ({ kind }) => kind, whole: true },
  { head: 'PROVISIONING', cell: ({ provisioning }) => provisioning, whole: true },
  { head: 'OFFER', cell: stateOf },
  { head: 'ON', cell: ({ workspaces_on }) => String(workspaces_on), align: 'right' },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class IdentityProvidersList extends CallerCommand {
  static override summary = 'List the identity providers offered to every workspace'
  static override examples = ['<%= config.bin %> identity-providers list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(IdentityProvidersList)
    const answer = await (await this.open(flags)).call(identityProviderOperations.listIdentityProviders, {})
    await this.show(() =>
      table(answer.data, columns, 'No identity provider is offered. `svc identity-providers add` offers one.'),
    )
    return answer
  }
}
