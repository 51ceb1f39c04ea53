/** The rules of this area, by operation. */
import type { mailOperations } from '../../contract/mail/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listMails, resendMail } from './queued-mails.ts'

export const mailHandlers = {
  listMails,
  resendMail,
} satisfies HandlersOf<typeof mailOperations>
