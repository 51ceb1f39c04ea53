/** The refusals that the kit's callers have met, of the test that runs now; refusals.ts makes a summary of them. */

/** `POST /api/v1/items not_found`, of the test that runs now. */
const heard = new Set<string>()

export function hearRefusal(method: string, target: string, answer: unknown): void {
  const { code } = (answer ?? {}) as { readonly code?: unknown }
  if (typeof code === 'string') heard.add(`${method} ${target.split('?')[0]} ${code}`)
}

/** What was heard since the last call. */
export function takeRefusals(): readonly string[] {
  const taken = [...heard]
  heard.clear()
  return taken
}
