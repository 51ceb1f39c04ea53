/** Recipients of age that a body names. Spec: Keeping, 3. */
import { refuseMember } from '../../contract/problem.ts'
import { isRecipient } from '../../kernel/sealing/age.ts'

/** Tries to encrypt for each of them, with no transaction open. Refuses request.invalid. */
export async function vetRecipientList(recipients: readonly string[]): Promise<void> {
  if (new Set(recipients).size < recipients.length) refuseMember('/recipients', 'list.unique')
  for (const [at, recipient] of recipients.entries())
    if (!(await isRecipient(recipient))) refuseMember(`/recipients/${at}`, 'value.format', { format: 'age-recipient' })
}
