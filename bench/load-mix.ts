/** A mix of what people and programs do with boards: 70 of 100 requests read. */
import { Pool } from 'undici'
import type { Boards } from './board-filler.ts'
import type { Ground } from './ground.ts'
import { anyOf, type Request, sendVia } from './requests.ts'

export interface Mix {
  /** Sends a request of the mix, and answers its status. */
  sendNext(): Promise<number>
  /**
   * Opens the connections, and reads some items of each board, which the mix then reads and changes. To be called before each
   * rate: a connection that rests for four seconds ends, and a daemon accepts one in each turn of its loop.
   */
  learn(): Promise<void>
  close(): Promise<void>
}

/** `connections`: the most requests that are under way; further ones wait here. */
export function openMix(
  address: string,
  { token }: Pick<Ground, 'token'>,
  { collections }: Boards,
  connections = 64,
): Mix {
  const pool = new Pool(address, { connections, pipelining: 1 })
  const ids = new Map<string, string[]>()

  /** Answers the status. Ids that were read are remembered, to be read and changed later. */
  async function send(request: Request, remember?: string[]): Promise<number> {
    const { status, text } = await sendVia(pool, { ...request, token }, remember !== undefined)
    if (remember && status < 300) remember.push(...idsOf(text))
    return status
  }

  async function openOne(): Promise<void> {
    const { body } = await pool.request({ method: 'GET', path: '/healthz' })
    await body.dump()
  }

  function next(): Request {
    const { id: containerId, buckets, labelId } = anyOf(collections)
    const itemId = anyOf(ids.get(containerId)!)
    const dice = Math.random() * 100
    if (dice < 30) return { method: 'GET', path: `/items/${itemId}` }
    if (dice < 50) return { method: 'GET', path: `/items?bucket_id=${anyOf(buckets)}&size=20` }
    if (dice < 60) return { method: 'GET', path: `/items?container_id=${containerId}&size=20` }
    if (dice < 70) return { method: 'GET', path: `/containers/${containerId}/buckets` }
    if (dice < 80) return { method: 'POST', path: '/items', body: { container_id: containerId, title: 'Loaded' } }
    if (dice < 90) return { method: 'PATCH', path: `/items/${itemId}`, body: { title: `Title ${Math.random()}` } }
    if (dice < 95) return { method: 'POST', path: `/items/${itemId}:move`, body: { bucket_id: anyOf(buckets) } }
    if (dice < 97) return { method: 'POST', path: `/items/${itemId}:complete` }
    if (dice < 98) return { method: 'POST', path: `/items/${itemId}:reopen` }
    return { method: 'PUT', path: `/items/${itemId}/labels/${labelId}` }
  }

  async function learn(): Promise<void> {
    await Promise.all(Array.from({ length: connections }, openOne))
    for (const { id } of collections) {
      if (ids.has(id)) continue
      const known: string[] = []
      await send({ method: 'GET', path: `/items?container_id=${id}&size=200` }, known)
      ids.set(id, known)
    }
  }

  return { sendNext: () => send(next()), learn, close: () => pool.destroy() }
}

const idsOf = (answer: string) => (JSON.parse(answer).data as { id: string }[]).map(({ id }) => id)
