/** The rules of this area, by operation. */
import type { noticeOperations } from '../../contract/operators/notice.ts'
import type { operatorOperations } from '../../contract/operators/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { getNotice, putNotice } from './notice.ts'
import { addOperator, listOperators, removeOperator } from './register.ts'

export const operatorsHandlers = {
  listOperators,
  addOperator,
  removeOperator,
  getNotice,
  putNotice,
} satisfies HandlersOf<typeof operatorOperations & typeof noticeOperations>
