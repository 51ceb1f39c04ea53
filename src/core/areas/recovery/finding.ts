/** The result of one check of a recovery. */

import type { CheckCode } from '../../contract/recovery-checks.ts'

export interface Check {
  readonly code: CheckCode
  readonly state: 'ok' | 'note' | 'finding'
  readonly says: string
  /** What to do; null if nothing needs to be done. */
  readonly remedy: string | null
}

export const ok = (code: CheckCode, says: string): Check => ({ code, state: 'ok', says, remedy: null })
export const note = (code: CheckCode, says: string, remedy: string): Check => ({ code, state: 'note', says, remedy })
export const finding = (code: CheckCode, says: string, remedy: string): Check => ({
  code,
  state: 'finding',
  says,
  remedy,
})

const shown = 5

/** The first 5 ids, and the number of the others. */
export const listed = (ids: readonly string[]) =>
  `${ids.slice(0, shown).join(', ')}${ids.length > shown ? ` and ${ids.length - shown} more` : ''}`
