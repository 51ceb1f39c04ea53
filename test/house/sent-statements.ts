/** The statements that some work sends, each with the role and the workspace in which it is sent. */
import type { Recorded } from '../../bench/recording.ts'
import { checkedOpening, type Statement } from '../../src/core/kernel/database/statement.ts'

export interface SentStatement {
  /** `set local role …; set local app.tenant_id = '…'` */
  readonly opening: string
  readonly statement: Statement
}

export function sentStatements(recorded: Recorded): SentStatement[] {
  const sent: SentStatement[] = []
  let opening = ''
  for (const statement of recorded) {
    if (statement.mode === 'simple') {
      const [, roles] =
        /^(?:begin (?:isolation level repeatable read, )?read (?:only|write); )?(set local .*)$/.exec(statement.text) ??
        []
      opening = checkedOpening(roles ?? opening)
    } else if (statement.text.startsWith('select set_config(')) {
      const [, role, , tenantId] = statement.values as string[]
      opening = checkedOpening(`set local role ${role}; set local app.tenant_id = '${tenantId}'`)
    } else {
      sent.push({ opening, statement })
    }
  }
  return sent
}
