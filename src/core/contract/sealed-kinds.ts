/**
 * The kinds of sealed values: one declaration each, and nothing else anywhere.
 *
 * Declare a kind here, then store and open its values through sealed-values.ts:
 *
 *    'webhook.secret': {
 *      holds: 'what deliveries to a webhook are signed with',
 *      owner: 'webhook_secret',
 *      ifLost: 'rotate the secret of each webhook',
 *    },
 *
 *    const place = { tenantId, kind: 'webhook.secret', ownerId: secret.id } as const
 *    await storeSealed(ctx, place, secret)     replaces what was there
 *    await openSealed(ctx, place)              refuses secret.unavailable
 *    await removeSealed(ctx, place)            with the row it belongs to
 *
 * `tenantId` is the workspace's, or `installationScope` where the row is the installation's.
 * From then on the values of the kind are counted by `GET /admin/encryption`, tried at boot
 * and before a recovery admits, re-wrapped by `:reseal`, removed with their workspace and
 * listed in docs/generated/sealed-values.md. The name is part of what each value is bound
 * to: a kind is never renamed.
 */
export interface SealedKindDeclaration {
  /** What is sealed, for people; goes on after "It holds". */
  readonly holds: string
  /** The table whose row the value belongs to: `tenant_id` and `id` (or what stands for it) are the value's place. */
  readonly owner: string
  /** What people do when its key is lost for good. */
  readonly ifLost: string
}

export const sealedKinds = {
  'idempotency.answer': {
    holds: 'answers that show something once, kept 24 hours for their Idempotency-Key',
    owner: 'idempotency_record',
    ifLost: 'nothing: a call that is repeated under its old key is refused until 24 hours are over',
  },
  'backup.credentials': {
    holds: 'how to sign in at a backup target',
    owner: 'backup_target',
    ifLost: 'remove the target and add it again',
  },
  'restore.identity': {
    holds: 'an age identity that a restore reads an archive with, until it has ended',
    owner: 'restore',
    ifLost: 'ask for the restore again, with the identity',
  },
  'identity_provider.client_secret': {
    holds: 'what an identity provider knows this service by',
    owner: 'identity_provider',
    ifLost: 'set the secret of each provider again',
  },
  'mfa.totp': {
    holds: 'what the codes of an authenticator app are made from',
    owner: 'second_factor',
    ifLost: 'the account signs in with a recovery code, or an administrator removes the factor, and it enrols anew',
  },
  'webhook.secret': {
    holds: 'what deliveries to a webhook are signed with',
    owner: 'webhook_secret',
    ifLost: 'rotate the secret of each webhook; what is pending waits until then',
  },
  'ai.api_key': {
    holds: 'how to sign in at an offered AI model',
    owner: 'ai_model',
    ifLost: 'set the key again: svc ai-providers update ID --api-key-file FILE',
  },
} as const satisfies Readonly<Record<string, SealedKindDeclaration>>

export type SealedKind = keyof typeof sealedKinds
