import { Flags } from '@oclif/core'
import { tokenOperations } from '../../../core/contract/auth/tokens.ts'
import { type Scope, scopes } from '../../../core/contract/vocabulary.ts'
import { CallerCommand } from '../../base-command.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

export default class TokensCreate extends CallerCommand {
  static override summary = 'Mint a personal access token; it is shown once'
  static override description =
    'With the scope admin:tenants your password is asked for once more; you must be an operator.'
  static override examples = [
    '<%= config.bin %> tokens create --name backup --scope workspace:read --days 30',
    '<%= config.bin %> tokens create --name ops --scope admin:tenants --token-file ops.token',
  ]
  static override flags = {
    name: Flags.string({ summary: 'What it is for; lists show it.', required: true }),
    scope: Flags.string({
      summary: 'What it may do; may be given several times.',
      options: scopes,
      multiple: true,
      multipleNonGreedy: true,
      required: true,
    }),
    days: Flags.integer({
      summary: 'For how long; 365 at most, 90 with admin:tenants, which is also what absent means.',
      min: 1,
      max: 365,
    }),
    'token-file': tokenFileFlag('it'),
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
      `\n${file ? 'The token is in that file and nowhere else.' : 'It is shown this one time only.'} To end it: ${this.following(`tokens revoke ${minted.id}`, flags)}`,
    )
    return withTokenFile(minted, 'token', file)
  }
}
