/** The line with which a command says that it sends mail, and where the mail goes. */
import type { Caller } from '../call/caller.ts'

/** E.g. `Mail to its administrators is queued. A daemon with workers writes it to /var/lib/svc/mail.` */
export const mailNotice = ({ mailGoes }: Caller, whom: string) =>
  mailGoes === undefined ? `Mail is sent to ${whom}.` : `Mail to ${whom} is queued. A daemon with workers ${mailGoes}.`
