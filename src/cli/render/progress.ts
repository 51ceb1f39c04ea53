/** A spinner on stderr while something takes time; nothing where stderr is no terminal. */

/** A terminal that does not say how wide it is would have the spinner clear lines for ever. */
const canSpin = () => process.stderr.isTTY && process.stderr.columns > 0

/** A bar of twenty characters; `total` null where it is not known. */
export function bar(done: number, total: number | null): string {
  if (total === null || total <= 0) return ''
  const share = Math.min(1, done / total)
  const filled = Math.floor(share * 20)
  return `[${'#'.repeat(filled)}${'-'.repeat(20 - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

/** Runs work that tells how far it is; on a terminal the spinner says so, elsewhere it is quiet. */
export async function withToldProgress<T>(
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (!canSpin()) return work(() => {})
  const { default: ora } = await import('ora')
  const spinner = ora({ text, stream: process.stderr, discardStdin: false }).start()
  try {
    return await work((now) => {
      spinner.text = now
    })
  } finally {
    spinner.stop()
  }
}

/** Runs the work under the text; on a terminal it spins, elsewhere it is quiet. */
export async function withProgress<T>(text: string, work: () => Promise<T>): Promise<T> {
  if (!canSpin()) return work()
  const { default: ora } = await import('ora')
  const spinner = ora({ text, stream: process.stderr, discardStdin: false }).start()
  try {
    return await work()
  } finally {
    spinner.stop()
  }
}
