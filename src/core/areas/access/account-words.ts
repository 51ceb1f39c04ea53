/**
 * The words that accounts are found by: each word of a name and of each address, folded, from its beginning to the end of
 * the text. So `king` and `ada k` find Ada King, and a range of an index is all that a search reads.
 *
 *    account.worded   the text whose words are there. A rule that writes a name or an address writes the words, too;
 *                     an account whose text is another one gets them from the job `word_accounts` (identity/accounts).
 *
 * Spec: people 1, I1; docs/decisions/0376.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'

/** What of an account is worded. */
export interface Worded {
  readonly display_name: string | null
  readonly email: string | null
  /** Its confirmed addresses besides; absent: it has none. */
  readonly others?: readonly string[]
}

/** A name has at most 200 characters, an address 254: so many words are enough to tell people apart. */
const wordsOfEach = 12
/** The longest question has as many. */
const longestWord = 120

/** The form in which texts and questions are compared. */
export const foldWords = (text: string) => caseFold(text).replace(/\s+/gu, ' ').trim()

/** The words of a text, each once. */
export function wordsOf(text: string | null): readonly string[] {
  const fold = foldWords(text ?? '')
  const starts = [...fold.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu)].map(({ index }) => index)
  return [...new Set(starts.slice(0, wordsOfEach).map((at) => [...fold.slice(at)].slice(0, longestWord).join('')))]
}

/** The text of an account as `account.worded` holds it. */
const wordedText = ({ display_name, email }: Worded) => `${display_name ?? ''} ${email ?? ''}`

/** Writes the words of an account; they leave with the commit. The account's row is locked or new. */
export function writeWords({ tx }: Pick<Ctx, 'tx'>, tenantId: string, accountId: string, worded: Worded): void {
  void tx`delete from account_word where tenant_id = ${tenantId} and account_id = ${accountId}`
  const rows = rowsOf(tenantId, accountId, worded)
  if (rows.length > 0)
    void tx`insert into account_word ${tx.rows(rows, 'tenant_id', 'word', 'account_id', 'of_address')}`
  void tx`update account set worded = ${wordedText(worded)} where tenant_id = ${tenantId} and id = ${accountId}`
}

function rowsOf(tenant_id: string, account_id: string, { display_name, email, others = [] }: Worded) {
  const ofName = wordsOf(display_name)
  const words = new Set([email, ...others].flatMap(wordsOf))
  const ofAddress = [...words].filter((word) => !ofName.includes(word))
  const row = (of_address: boolean) => (word: string) => ({ tenant_id, word, account_id, of_address })
  return [...ofName.map(row(false)), ...ofAddress.map(row(true))]
}
