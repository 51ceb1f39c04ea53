/**
 * A program that pulls events for ever. Each page and the next position are one line of a file, so
 * the program can be killed at any moment and continue after the last complete line.
 *
 *    node poller.ts URL TOKEN FILE SEED
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

export interface PolledPage {
  readonly next: string
  readonly names: readonly string[]
}

/** The pages of complete lines; a line that a kill cut off was never taken. */
export function polledPages(file: string): PolledPage[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as PolledPage]
      } catch {
        return [] // cut off, and closed by the newline that its successor began with
      }
    })
}

async function poll(url: string, token: string, file: string, seed: number): Promise<never> {
  let since = polledPages(file).at(-1)?.next
  appendFileSync(file, '\n')
  for (let turn = seed; ; turn += 1) {
    const query = new URLSearchParams({ limit: String(1 + ((turn * 7919) % 200)), ...(since && { since }) })
    const answer = await fetch(`${url}?${query}`, { headers: { authorization: `Bearer ${token}` } })
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${await answer.text()}`)
    const page = (await answer.json()) as { data: { data: { name: string } }[]; next_since: string }
    since = page.next_since
    const polled: PolledPage = { next: since, names: page.data.map(({ data }) => data.name) }
    appendFileSync(file, `${JSON.stringify(polled)}\n`)
    if (page.data.length === 0) await pause(5)
  }
}

if (import.meta.main) {
  const [url = '', token = '', file = '', seed = '0'] = process.argv.slice(2)
  await poll(url, token, file, Number(seed))
}
