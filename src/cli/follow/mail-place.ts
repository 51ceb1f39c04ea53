/** Says, behind a command that sends mail, that it does and where it ends up. */
import type { Caller } from '../call/caller.ts'

/** E.g. `Its administrators are told by mail: into /var/lib/svc/mail, by a daemon that works the queue.` */
export const toldByMail = ({ mailGoes }: Caller, who: string) =>
  mailGoes === undefined ? `${who} told by mail.` : `${who} told by mail: ${mailGoes}.`
