/**
 * A spinner on stderr during long work; nothing if stderr is not a terminal. Its texts have names that others gave, so each
 * is made printable here.
 */
import { printable } from './printable.ts'

/** On a terminal of unknown width the spinner would clear lines without end. */
const canSpin = () => process.stderr.isTTY && process.stderr.columns > 0

/** A bar of twenty characters; empty if `total` is null or 0. */
export function bar(done: number, total: number | null): string {
  if (total === null || total <= 0) return ''
  const share = Math.min(1, done / total)
  const filled = Math.floor(share * 20)
  return `[${'#'.repeat(filled)}${'-'.repeat(20 - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

/** Runs work that reports its progress; a terminal shows it beside a spinner. */
export async function withToldProgress<T>(
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (!canSpin()) return work(() => {})
  const { default: ora } = await import('ora')
  const spinner = ora({ text: printable(text), stream: process.stderr, discardStdin: false }).start()
  try {
    return await work((now) => {
      spinner.text = printable(now)
    })
  } finally {
    spinner.stop()
  }
}

/** Runs the work; a terminal shows the text beside a spinner. */
export async function withProgress<T>(text: string, work: () => Promise<T>): Promise<T> {
  if (!canSpin()) return work()
  const { default: ora } = await import('ora')
  const spinner = ora({ text: printable(text), stream: process.stderr, discardStdin: false }).start()
  try {
    return await work()
  } finally {
    spinner.stop()
  }
}
