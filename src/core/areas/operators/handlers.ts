/** The rules of this area, by operation. */
import type { operatorOperations } from '../../contract/operators/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { addOperator, listOperators, removeOperator } from './register.ts'

export const operatorsHandlers = {
  listOperators,
  addOperator,
  removeOperator,
} satisfies HandlersOf<typeof operatorOperations>
