/**
 * Which people of a workspace are erased, for whoever reads an archive of it.
 *
 *    ledger of this host, and ledgers that were pulled    the obligation, before the first row went
 *    the database                                         the same, while the workspace is there
 *    tenants/<id>/erasures.json at a target               the same, signed, where ledger and database are gone
 *
 * An obligation without an outcome counts: nobody comes back because a commit was not heard of. Spec: Keeping, 1; docs/decisions/0041.
 */
import { z } from 'zod'
import { isObligationOf, type Obligation } from '../../contract/obligation.ts'
import { Choices } from '../../contract/privacy/requests.ts'
import { moment, uuid } from '../../contract/vocabulary.ts'
import { readLedger } from '../../kernel/ledger/ledger.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import { signatureFaultOf, signed } from '../../kernel/sealing/signing.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'

export interface Erased {
  readonly accountId: string
  readonly at: string
  readonly choices: Choices
}

type Act = Extract<Obligation, { act: 'account.erased' }>

/** The choices as the ledger holds them: codes and ids. */
export const codesOf = ({ texts, files, mentions }: Choices): Pick<Act, 'texts' | 'files' | 'mentions'> => ({
  texts,
  files,
  mentions: mentions.map(({ kind, id }) => `${kind}:${id}`),
})

export const choicesOf = ({ texts, files, mentions }: Pick<Act, 'texts' | 'files' | 'mentions'>): Choices =>
  Choices.parse({
    texts,
    files,
    mentions: mentions.map((one) => {
      const [kind, id] = one.split(':')
      return { kind, id }
    }),
  })

/** From the ledger of this host and `ledgers` besides, and from the database. */
export async function readErasures(
  installation: Installation,
  tenantId: string,
  { ledgers = [], actor }: { readonly ledgers?: readonly string[]; readonly actor: Actor },
): Promise<readonly Erased[]> {
  const { ledger, keyring, identity } = installation
  const found = new Map<string, Erased>()
  for (const { account_id, choices, began_at } of await readRows(installation, tenantId, actor))
    found.set(account_id, { accountId: account_id, at: began_at, choices: Choices.parse(choices) })
  for (const file of new Set([ledger.file, ...ledgers])) {
    const { installationId, obligations } = await readLedger(file, keyring)
    if (installationId !== undefined && installationId !== identity.id) continue
    for (const { act, at } of obligations)
      if (isObligationOf('erasures', act) && act.tenant_id === tenantId)
        found.set(act.account_id, { accountId: act.account_id, at, choices: choicesOf(act) })
  }
  return [...found.values()].sort((one, other) => (one.at < other.at ? -1 : 1))
}

interface ErasureRow {
  readonly account_id: string
  readonly choices: unknown
  readonly began_at: string
}

const readRows = (installation: Installation, tenantId: string, actor: Actor): Promise<readonly ErasureRow[]> =>
  installation.transaction(
    actor,
    { tenantId, readOnly: true },
    ({ tx }) => tx.last<ErasureRow[]>`
      select account_id, choices, began_at from erasure where tenant_id = ${tenantId} and account_id is not null order by began_at`,
  )

const purpose = 'svc/erasures/v1'
/** The list is rewritten with each erasure; one that a target still has from before is verified as it was signed. */
export const erasureListPurposes = [purpose]

export const erasureListName = 'erasures.json'

const List = z.object({
  format: z.literal('svc/erasures/1'),
  tenant_id: uuid,
  erasures: z.array(
    z.object({
      account_id: uuid,
      at: moment,
      texts: z.enum(['KEEP', 'REDACT', 'REMOVE']),
      files: z.enum(['KEEP', 'REMOVE']),
      mentions: z.array(z.string()),
    }),
  ),
})

const Signed = z.object({ document: z.string(), key_id: z.string(), public_key: z.string(), signature: z.string() })

/** The text of the file, signed by this installation. */
export function writeErasureList(keyring: Keyring, tenantId: string, erasures: readonly Erased[]): string {
  const document = JSON.stringify({
    format: 'svc/erasures/1',
    tenant_id: tenantId,
    erasures: erasures.map(({ accountId, at, choices }) => ({ account_id: accountId, at, ...codesOf(choices) })),
  })
  const { key_id, public_key, signature } = signed(keyring, purpose, document)
  return `${JSON.stringify({
    document,
    key_id,
    public_key: public_key.toString('base64url'),
    signature: signature.toString('base64url'),
  })}\n`
}

/**
 * Reads the text of the file. Undefined where it is none of this installation's, which `acceptsForeign` lets pass, or another
 * workspace's.
 */
export function readErasureList(
  keyring: Keyring,
  tenantId: string,
  text: string,
  { acceptsForeign = false } = {},
): readonly Erased[] | undefined {
  const outer = Signed.safeParse(parsed(text))
  if (!outer.success) return undefined
  const { document, key_id } = outer.data
  const [public_key, signature] = [outer.data.public_key, outer.data.signature].map((one) =>
    Buffer.from(one, 'base64url'),
  )
  if (!public_key || !signature) return undefined
  const isOurs = !signatureFaultOf(keyring, purpose, document, { key_id, public_key, signature })
  if (!isOurs && !acceptsForeign) return undefined
  const list = List.safeParse(parsed(document))
  if (!list.success || list.data.tenant_id !== tenantId) return undefined
  return list.data.erasures.map(({ account_id, at, ...codes }) => ({
    accountId: account_id,
    at,
    choices: choicesOf(codes),
  }))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
