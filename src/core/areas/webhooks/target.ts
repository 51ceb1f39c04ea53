/**
 * The target of a webhook. The egress guard checks it before it is stored, and again at every attempt.
 * Spec: Webhooks and event pull, rule 1.
 */

import { refuse } from '../../contract/problem.ts'
import { EgressRefused, portOf } from '../../kernel/egress/guard.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'

/**
 * The decision of the guard, made before the transaction that may store the target. The rule itself refuses, so that a
 * repeated call gets the same answer.
 */
export type VettedTarget = { readonly host: string } | 'forbidden' | undefined

/** Resolves the target with no transaction open. A name that cannot be resolved is accepted: it may resolve later. */
export async function vetTarget(
  installation: Installation,
  _actor: Actor,
  { body: { target_url } }: { readonly body: { readonly target_url?: string | undefined } },
): Promise<VettedTarget> {
  if (target_url === undefined) return undefined
  const egress = await installation.egress()
  try {
    const url = egress.readUrl(target_url)
    await egress.vet(url.hostname, portOf(url)).catch((error: unknown) => {
      if (error instanceof EgressRefused) throw error
    })
    return { host: `${url.hostname}:${portOf(url)}` }
  } catch (error) {
    if (error instanceof EgressRefused) return 'forbidden'
    throw error
  }
}

/** Host and port of a vetted target. Refuses webhook.target_forbidden. */
export function hostOf(vetted: VettedTarget): string {
  if (vetted === 'forbidden' || vetted === undefined) refuse('webhook.target_forbidden')
  return vetted.host
}
