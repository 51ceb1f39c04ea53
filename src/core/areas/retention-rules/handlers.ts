/** The rules of this area, by operation. */
import type { ruleOperations } from '../../contract/retention/rules.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { setRetentionRule } from './change.ts'
import { previewRetentionRule } from './preview.ts'
import { listRetentionRules } from './rule.ts'
import { listRetentionRuns } from './run-row.ts'

export const retentionRuleHandlers = {
  listRetentionRules,
  setRetentionRule,
  previewRetentionRule,
  listRetentionRuns,
} satisfies HandlersOf<typeof ruleOperations>
