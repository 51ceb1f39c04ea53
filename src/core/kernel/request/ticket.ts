/**
 * Tickets: a call without a token acts for the token that the ticket was made with.
 *
 * A ticket is sealed as a cursor is, for one operation, its path's ids and a variant of what they name. It names the token, not
 * only its account: whoever signs out or revokes the token ends its tickets, and the gate decides the call as it decides every
 * call of that token.
 * It ends by itself, and with the installation's epoch. Spec: items 4, O10; docs/decisions/0351.
 */
import { installationScope } from '../../contract/vocabulary.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { readCursor, writeCursor } from '../transaction/cursor.ts'
import { timeNow } from '../values/time.ts'

export interface Ticket {
  readonly tenantId: string
  readonly credentialId: string
  readonly epoch: string
  /** A moment, in RFC 3339. */
  readonly expiresAt: string
}

/** What a ticket is for: the operation, and `ticketParams`. */
interface TicketFor {
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
}

/** The ids of the path, and the variant unless it is the original. */
export const ticketParams = (
  ids: Readonly<Record<string, string>>,
  variant: unknown,
): Readonly<Record<string, string>> =>
  typeof variant === 'string' && variant !== 'ORIGINAL' ? { ...ids, variant } : ids

const scopeOf = ({ operation, params }: TicketFor) => ({ operation, scope: installationScope, filters: params })
/** In place of the epoch that binds a cursor: a ticket's is compared with that of the look-up. */
const kind = 'ticket'

export const writeTicket = (keyring: Keyring, for_: TicketFor, ticket: Ticket): string =>
  writeCursor(keyring, scopeOf(for_), kind, [ticket.tenantId, ticket.credentialId, ticket.epoch, ticket.expiresAt])

/** Undefined for a text that is no ticket, is for something else, or has ended. */
export function readTicket(keyring: Keyring, for_: TicketFor, text: string): Ticket | undefined {
  try {
    const [tenantId = '', credentialId = '', epoch = '', expiresAt = ''] = readCursor(
      keyring,
      scopeOf(for_),
      kind,
      text,
    )
    return Date.parse(expiresAt) > timeNow() ? { tenantId, credentialId, epoch, expiresAt } : undefined
  } catch {
    return undefined
  }
}
