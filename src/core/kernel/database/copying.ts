/**
 * COPY over a connection that is not the pool's: rows into a table of the owner's, and out of it again.
 *
 * The driver hands over the messages of the protocol, and leaves what they mean to whoever asked (`Submittable`).
 */
import { once } from 'node:events'
import type { Client } from 'pg'

/** What of the driver's connection a copy uses; its types have none of it. */
interface Wire {
  readonly stream: NodeJS.EventEmitter & { readonly writableNeedDrain: boolean; readonly destroyed: boolean }
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** Runs one `copy … from stdin`. Rejects with the server's error, or with that of the source. */
export function copyIn(client: Client, text: string, source: AsyncIterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    let sourceError: unknown
    const feed = async (wire: Wire) => {
      try {
        for await (const chunk of source) {
          wire.sendCopyFromChunk(chunk)
          if (wire.stream.writableNeedDrain) await drained(wire.stream)
          if (isOver || wire.stream.destroyed) return
        }
        wire.endCopyFrom()
      } catch (error) {
        sourceError = error
        wire.sendCopyFail('the source failed')
      }
    }
    let isOver = false
    const ended = (error?: unknown) => {
      isOver = true
      if (error === undefined) resolve()
      else reject(sourceError ?? error)
    }
    client.query({
      submit: (wire: Wire) => wire.query(text),
      handleCopyInResponse: (wire: Wire) => void feed(wire),
      handleCommandComplete() {},
      handleReadyForQuery: () => ended(),
      handleError: (error: unknown) => ended(error),
    } as never)
  })
}

/** Waits until the stream takes more, or is closed; and listens no longer. */
async function drained(stream: NodeJS.EventEmitter): Promise<void> {
  const listening = new AbortController()
  const heard = (event: string) => once(stream, event, { signal: listening.signal })
  await Promise.race([heard('drain'), heard('close')]).finally(() => listening.abort())
}

/** Runs one `copy … to stdout`, and passes each row as it comes. */
export function copyOut(client: Client, text: string, take: (row: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (wire: Wire) => wire.query(text),
      handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => {
        try {
          take(chunk)
        } catch (error) {
          reject(error) // the rest comes and is let go
        }
      },
      handleCommandComplete() {},
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    } as never)
  })
}
