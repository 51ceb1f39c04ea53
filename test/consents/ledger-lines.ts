/** What the ledger of a test says of an account. */
import { readFileSync } from 'node:fs'

interface Act {
  readonly act: string
  readonly account_id?: string
}

/** The lines about an account, in their order. */
export const linesAbout = (file: string, accountId: string): readonly Act[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Act)
    .filter(({ account_id }) => account_id === accountId)
