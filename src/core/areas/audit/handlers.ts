/** The rules of this area, by operation. */
import type { auditOperations } from '../../contract/audit/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listAuditEntries } from './trail.ts'

export const auditHandlers = {
  listAuditEntries,
} satisfies HandlersOf<typeof auditOperations>
