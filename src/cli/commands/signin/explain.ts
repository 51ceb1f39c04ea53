import { Args } from '@oclif/core'
import { type SignInExplanation, signInExplanationOperations } from '../../../core/contract/audit/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { explainedSignIn } from '../../render/sign-in.ts'

export default class SigninExplain extends CallerCommand {
  static override summary = 'Why an address can sign in to a workspace, or cannot'
  static override description =
    'Each way in: whether it is open, which switch decides, who set or locked it, why, and until when. It is what signing in itself goes by.'
  static override examples = [
    '<%= config.bin %> signin explain acme ada@acme.example',
    '<%= config.bin %> signin explain acme ada@acme.example --recovery --json',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug" }),
    email: Args.string({ ignoreStdin: true, required: true, description: 'the address somebody signs in with' }),
  }

  async run(): Promise<SignInExplanation> {
    const { args, flags } = await this.parse(SigninExplain)
    const caller = await this.open(flags)
    const explanation = await caller.call(signInExplanationOperations.explainSignIn, { body: args })
    await this.show(() => explainedSignIn(args.email, explanation))
    return explanation
  }
}
