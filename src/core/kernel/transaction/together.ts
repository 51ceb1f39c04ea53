/**
 * Questions that are asked at once.
 *
 * A rule calls functions that each send their statements at the call, and awaits all of them here:
 * their statements share one packet. Refusals keep their order: if several of them refuse, the
 * first in the order of the arguments is thrown.
 *
 *    const [container, bucket] = await together(writableContainer(…), bucketFor(…))
 *
 * Only for functions that read and lock: what they send is sent also where an earlier one refuses.
 * Not for functions that work in another role for longer than one statement (`asInstallation`):
 * the others' statements would be sent in that role, too.
 * Spec: decisions 1, "Checks come in this order"; docs/decisions/0176.
 */

type Answers<Asked extends readonly unknown[]> = { -readonly [Key in keyof Asked]: Awaited<Asked[Key]> }

/** The answers, in the order of the arguments. Throws the first refusal in this order. */
export async function together<const Asked extends readonly unknown[]>(...asked: Asked): Promise<Answers<Asked>> {
  const outcomes = await Promise.allSettled(asked)
  const refused = outcomes.find((outcome) => outcome.status === 'rejected')
  if (refused) throw refused.reason
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value) as Answers<Asked>
}
