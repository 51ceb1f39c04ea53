/** The flags that choose mails, and what they ask for. */
import { Flags } from '@oclif/core'
import { type MailState, mailStates } from '../../core/contract/mail/operations.ts'
import type { Caller } from '../call/caller.ts'
import { findWorkspace } from '../find/workspaces.ts'

export const mailFilterFlags = {
  state: Flags.string({ summary: 'Only mails in this state.', options: mailStates }),
  kind: Flags.string({ summary: 'Only mails of this kind, e.g. invitation.' }),
  workspace: Flags.string({ summary: "Only this workspace's: its slug or id.", helpValue: 'WORKSPACE' }),
}

interface MailFilter {
  readonly state?: string | undefined
  readonly kind?: string | undefined
  readonly workspace?: string | undefined
}

/** Refuses not_found of the workspace. */
export async function askedMails(caller: Caller, { state, kind, workspace }: MailFilter) {
  const tenant = workspace === undefined ? undefined : await findWorkspace(caller, workspace)
  return {
    ...(state === undefined ? {} : { state: state as MailState }),
    ...(kind === undefined ? {} : { kind }),
    ...(tenant ? { tenant_id: tenant.id } : {}),
  }
}
