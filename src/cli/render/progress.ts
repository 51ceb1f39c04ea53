/** A spinner on stderr while something takes time; nothing where stderr is no terminal. */

/** Runs the work under the text; on a terminal it spins, elsewhere it is quiet. */
export async function withProgress<T>(text: string, work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work()
  const { default: ora } = await import('ora')
  const spinner = ora({ text, stream: process.stderr, discardStdin: false }).start()
  try {
    return await work()
  } finally {
    spinner.stop()
  }
}
