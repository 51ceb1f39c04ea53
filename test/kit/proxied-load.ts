/**
 * A steady load through a proxy, as a client should send it: reads, and changes with an Idempotency-Key. What was answered
 * 502, 503 or 504, or not at all, is sent again, a change with the same key. What was answered otherwise has failed.
 */
import { randomUUID } from 'node:crypto'
import { Agent, type RequestOptions, request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

export interface Heard {
  /** 0: the connection ended before the answer did. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

export interface Asked {
  readonly token?: string
  readonly body?: unknown
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The address on loopback that the call comes from. */
  readonly from?: string
}

/** A client with its own connections; the certificate is the test's own. */
export function openClient(address: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false, timeout: 90_000 })
  const call = (method: string, path: string, { token, body, key, headers = {}, from }: Asked = {}): Promise<Heard> => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const options: RequestOptions = {
      agent,
      method,
      ...(from === undefined ? {} : { localAddress: from }),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text as string) }),
        ...headers,
      },
    }
    return new Promise((resolve) => {
      const cut = () => resolve({ status: 0, headers: {}, text: '' })
      const sent = request(`${address}${path}`, options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', cut)
        response.on('aborted', cut)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      })
      sent.on('error', cut)
      sent.end(text)
    })
  }
  return { call, close: () => agent.destroy() }
}

export interface Told {
  reads: number
  changes: number
  /** Calls that were sent again, by what was answered first. */
  repeated: Record<string, number>
  failed: string[]
  /** Of one call with all that was sent again for it. */
  slowestMs: { read: number; change: number }
}

export interface Load {
  /** The titles of the items whose making was acknowledged. */
  readonly acknowledged: readonly string[]
  /** What happened since it was asked the last time. */
  told(): Told
  stop(): Promise<void>
}

const sentAgain = new Set([0, 502, 503, 504])
/** A client that repeats gives up after so long. */
const patienceMs = 60_000
const restMs = 40

const nothing = (): Told => ({
  reads: 0,
  changes: 0,
  repeated: {},
  failed: [],
  slowestMs: { read: 0, change: 0 },
})

export function startLoad(
  address: string,
  { token, containerId, readers, writers }: { token: string; containerId: string; readers: number; writers: number },
): Load {
  const client = openClient(address)
  const acknowledged: string[] = []
  let isOver = false
  let told = nothing()

  const until = async (what: 'read' | 'change', wanted: number, once: () => Promise<Heard>): Promise<Heard> => {
    const begun = performance.now()
    for (;;) {
      const answer = await once()
      const ms = performance.now() - begun
      if (!sentAgain.has(answer.status) || ms > patienceMs) {
        if (what === 'read') told.reads += 1
        else told.changes += 1
        told.slowestMs[what] = Math.max(told.slowestMs[what], Math.round(ms))
        if (answer.status !== wanted) told.failed.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`)
        return answer
      }
      const name = `${what} ${answer.status === 0 ? 'cut' : answer.status}`
      told.repeated[name] = (told.repeated[name] ?? 0) + 1
      await pause(100)
    }
  }

  const reader = async () => {
    const path = `/api/v1/items?container_id=${containerId}&size=20`
    while (!isOver) {
      await until('read', 200, () => client.call('GET', path, { token }))
      await pause(restMs)
    }
  }
  const writer = async () => {
    while (!isOver) {
      const [key, title] = [randomUUID(), `proxied ${randomUUID()}`]
      const body = { container_id: containerId, title }
      const made = await until('change', 201, () => client.call('POST', '/api/v1/items', { token, key, body }))
      if (made.status === 201) {
        acknowledged.push(title)
        const { id } = JSON.parse(made.text) as { id: string }
        await until('read', 200, () => client.call('GET', `/api/v1/items/${id}`, { token }))
      }
      await pause(restMs)
    }
  }
  const all = Promise.all([...Array.from({ length: readers }, reader), ...Array.from({ length: writers }, writer)])
  return {
    acknowledged,
    told() {
      const since = told
      told = nothing()
      return since
    },
    async stop() {
      isOver = true
      await all
      client.close()
    },
  }
}

export function inWords({ reads, changes, repeated, failed, slowestMs }: Told): string {
  const again = Object.entries(repeated).map(([what, n]) => `${n} × ${what}`)
  return (
    `${reads} reads (slowest ${slowestMs.read} ms), ${changes} changes (slowest ${slowestMs.change} ms), ` +
    `${failed.length} failed, sent again: ${again.join(', ') || 'none'}`
  )
}
