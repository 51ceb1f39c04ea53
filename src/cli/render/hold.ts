/** One legal hold, for people. */
import type { Hold } from '../../core/contract/retention/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

export const holdDetails = (hold: Hold) =>
  details([
    ['id', hold.id],
    ['workspace', hold.tenant_id],
    ['scope', hold.scope.kind],
    ['target', hold.scope.id],
    ['reason', hold.reason],
    ['placed', moment(hold.placed_at)],
    ['placed by', hold.placed_by],
    ['released', hold.released_at && moment(hold.released_at)],
    ['released by', hold.released_by],
  ])
