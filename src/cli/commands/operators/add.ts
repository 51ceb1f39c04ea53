import { Args } from '@oclif/core'
import { operatorOperations } from '../../../core/contract/operators/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class OperatorsAdd extends CallerCommand {
  static override summary = 'Make an account an operator of the installation'
  static override description =
    'The account must be active. Adding an operator again succeeds, and ends its probation. Asks for your password again; ' +
    'an operator that is added without a password (`svc api POST /admin/operators`) is on probation for a day.'
  static override examples = [
    '<%= config.bin %> operators add acme ada@acme.example',
    '<%= config.bin %> operators add acme bench-3',
    '<%= config.bin %> operators add 0190c9d2-7a3b-7cde-8f01-23456789abcd --password-file me.password',
  ]
  static override args = {
    account: Args.string({
      ignoreStdin: true,
      required: true,
      description: "the account's id, or its workspace's slug followed by its e-mail address or sign-in name",
    }),
    email: Args.string({ ignoreStdin: true, description: "the account's e-mail address or sign-in name" }),
  }
  static override flags = proofFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OperatorsAdd)
    const caller = await this.open(flags)
    const body =
      args.email === undefined ? { account_id: args.account } : { workspace: args.account, email: args.email }
    await this.callProven(caller, operatorOperations.addOperator, { body }, flags)
    this.tell(
      `${args.email ?? args.account} is an operator.\nNext, signed in as that account: svc tokens create --name ops --scope admin:tenants`,
    )
  }
}
