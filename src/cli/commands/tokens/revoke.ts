import { Args } from '@oclif/core'
import { tokenOperations } from '../../../core/contract/auth/tokens.ts'
import { CallerCommand } from '../../base-command.ts'

export default class TokensRevoke extends CallerCommand {
  static override summary = 'Revoke an access token; its next request is refused'
  static override examples = ['<%= config.bin %> tokens revoke 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = {
    token: Args.string({ ignoreStdin: true, required: true, description: "the token's id, as `tokens list` shows it" }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TokensRevoke)
    const caller = await this.open(flags)
    await caller.call(tokenOperations.revokeToken, { tokenId: args.token })
    this.tell(`Token ${args.token} is revoked.`)
  }
}
