import { Args } from '@oclif/core'
import { type SignInExplanation, signInExplanationOperations } from '../../../core/contract/audit/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { folded } from '../../render/details.ts'
import { explainedSignIn } from '../../render/sign-in.ts'

export default class SigninExplain extends CallerCommand {
  static override summary = 'Explain why an address can or cannot sign in to a workspace'
  static override description =
    'Shows for each sign-in method whether it is open, which switch decides that, who set or locked the switch, why, and until when. Signing in uses the same rules.'
  static override examples = [
    '<%= config.bin %> signin explain acme ada@acme.example',
    '<%= config.bin %> signin explain acme ada@acme.example --recovery --json',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug" }),
    email: Args.string({ ignoreStdin: true, required: true, description: 'the e-mail address of the account' }),
  }

  async run(): Promise<SignInExplanation> {
    const { args, flags } = await this.parse(SigninExplain)
    const caller = await this.open(flags)
    const explanation = await caller.call(signInExplanationOperations.explainSignIn, { body: args })
    await this.show(() => folded(explainedSignIn(args.email, explanation)))
    return explanation
  }
}
