/** What the ledger of a test says of an account, or of a token. */
import { readFileSync } from 'node:fs'

interface Act {
  readonly act: string
  readonly account_id?: string
  readonly id?: string
}

/** The lines about an account, or about what has the id, in their order. */
export const linesAbout = (file: string, id: string): readonly Act[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Act)
    .filter((act) => act.account_id === id || act.id === id)
