import type { Answer } from '../../../core/contract/operation.ts'
import { operatorOperations } from '../../../core/contract/operators/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { day, moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

type Operator = Answer<typeof operatorOperations.listOperators>['data'][number]

const columns: readonly Column<Operator>[] = [
  { head: 'NAME', cell: (operator) => operator.name ?? '' },
  { head: 'SIGNS IN AS', cell: (operator) => operator.sign_in_name ?? '' },
  { head: 'WORKSPACE', cell: (operator) => operator.workspace.slug },
  { head: 'KIND', cell: (operator) => operator.kind, whole: true },
  { head: 'SINCE', cell: (operator) => day(operator.added_at) },
  {
    head: 'PROBATION',
    cell: (operator) => (operator.probation_until === null ? '' : moment(operator.probation_until)),
    whole: true,
  },
  { head: 'ACCOUNT', cell: (operator) => operator.account_id, whole: true },
]

export default class OperatorsList extends CallerCommand {
  static override summary = 'List the operators of this installation'
  static override examples = ['<%= config.bin %> operators list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(OperatorsList)
    const caller = await this.open(flags)
    const answer = await caller.call(operatorOperations.listOperators, {})
    await this.show(() =>
      table(
        answer.data,
        columns,
        'There is no operator. `svc operators add WORKSPACE EMAIL --recovery` adds the first one.',
      ),
    )
    return answer
  }
}
