import { Args, Flags } from '@oclif/core'
import { identityOperations } from '../../../core/contract/identity/operations.ts'
import { operatorOperations } from '../../../core/contract/operators/operations.ts'
import { Problem } from '../../../core/contract/problem.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { isId } from '../../find/pick.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class OperatorsRemove extends CallerCommand {
  static override summary = 'Remove an operator; its admin tokens stop working at once'
  static override description = 'Asks for your password again. The last operator that can act cannot be removed.'
  static override examples = [
    '<%= config.bin %> operators remove ada@acme.example',
    '<%= config.bin %> operators remove ada@acme.example --password-file me.password',
  ]
  static override args = {
    account: Args.string({
      ignoreStdin: true,
      required: true,
      description: "the account's id, e-mail address or sign-in name",
    }),
  }
  static override flags = {
    confirm: Flags.string({
      summary: 'Confirm the removal of your own account without a prompt: its address.',
      helpValue: 'ADDRESS',
    }),
    ...proofFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OperatorsRemove)
    const caller = await this.open(flags)
    const accountId = isId(args.account) ? args.account.toLowerCase() : await findOperator(caller, args.account)
    if (accountId === (await ownAccountId(caller)))
      await confirmByName(args.account, 'This is your own account. You will no longer be an operator.', flags.confirm)
    await this.callProven(caller, operatorOperations.removeOperator, { accountId }, flags)
    this.tell(`${args.account} is no longer an operator.`)
  }
}

/** The operator that signs in so. Refuses admin.operator_not_registered. */
async function findOperator(caller: Caller, address: string): Promise<string> {
  const { data } = await caller.call(operatorOperations.listOperators, {})
  const [found, other] = data.filter((operator) => operator.sign_in_name === address || operator.address === address)
  if (!found || other) throw new Problem('admin.operator_not_registered')
  return found.account_id
}

async function ownAccountId(caller: Caller): Promise<string | undefined> {
  if (caller.way === 'database') return undefined
  return (await caller.call(identityOperations.getOwnAccount, {})).id
}
