import { tokenOperations } from '../../../core/contract/auth/tokens.ts'
import type { Answer } from '../../../core/contract/operation.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { day } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

type Token = Answer<typeof tokenOperations.listTokens>['data'][number]

const columns: readonly Column<Token>[] = [
  { head: 'NAME', cell: (token) => token.name },
  { head: 'ENDS IN', cell: (token) => `…${token.last4}`, whole: true },
  { head: 'SCOPES', cell: (token) => token.scopes.join(' ') },
  { head: 'EXPIRES', cell: (token) => day(token.expires_at) },
  { head: 'LAST USED', cell: (token) => day(token.last_used_at) },
  { head: 'ID', cell: (token) => token.id, whole: true },
]

export default class TokensList extends CallerCommand {
  static override summary = 'List your personal access tokens'
  static override examples = ['<%= config.bin %> tokens list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(TokensList)
    const caller = await this.open(flags)
    const data: Token[] = []
    for await (const page of pagesOf(caller, tokenOperations.listTokens, { size: 200 })) data.push(...page.data)
    await this.show(() => table(data, columns, 'You have no access token. `svc tokens create` creates one.'))
    return { data, next_cursor: null }
  }
}
