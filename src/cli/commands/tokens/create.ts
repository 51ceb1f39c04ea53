import { Flags } from '@oclif/core'
import { tokenOperations } from '../../../core/contract/auth/tokens.ts'
import { type Scope, scopes } from '../../../core/contract/vocabulary.ts'
import { CallerCommand } from '../../base-command.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

export default class TokensCreate extends CallerCommand {
  static override summary = 'Create a personal access token; it is shown only once'
  static override description =
    'For the scope admin:tenants you must be an operator, and the command asks for your password again.'
  static override examples = [
    '<%= config.bin %> tokens create --name backup --scope workspace:read --days 30',
    '<%= config.bin %> tokens create --name ops --scope admin:tenants --token-file ops.token',
  ]
  static override flags = {
    name: Flags.string({ summary: 'A name for lists, such as its purpose.', required: true }),
    scope: Flags.string({
      summary: 'What the token allows; may be given several times.',
      options: scopes,
      multiple: true,
      multipleNonGreedy: true,
      required: true,
    }),
    days: Flags.integer({
      summary: 'The days until it expires: at most 90 with admin:tenants, else 365. Default: the maximum.',
      min: 1,
      max: 365,
    }),
    'token-file': tokenFileFlag('the token'),
    ...proofFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(TokensCreate)
    const caller = await this.open(flags)
    const expiry =
      flags.days === undefined ? {} : { expires_at: new Date(Date.now() + flags.days * 86_400_000).toISOString() }
    const body = { name: flags.name, scopes: flags.scope as Scope[], ...expiry }
    const file = flags['token-file']
    const call = () => this.callProven(caller, tokenOperations.createToken, { body }, flags)
    const minted = await keepingToken(file, ({ token }) => token, call)
    this.log(
      details([
        ['token', file ? `written to ${file}` : minted.token],
        ['name', minted.name],
        ['scopes', minted.scopes.join(' ')],
        ['valid until', moment(minted.expires_at)],
        ['id', minted.id],
      ]),
    )
    this.tell(
      `\n${file ? 'The token is only in that file.' : 'The token is shown only this once.'} To revoke it: ${this.following(`tokens revoke ${minted.id}`, flags)}`,
    )
    return withTokenFile(minted, 'token', file)
  }
}
