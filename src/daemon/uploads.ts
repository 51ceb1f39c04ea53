/**
 * A file that a call brings: its bytes are handed on as a stream, and followed.
 *
 *    the limit for a whole request (30 s) does not hold: a file takes as long as its connection needs
 *    in each 30 s at least 256 KiB come   otherwise the call is answered 408 and closed
 *    refused before its end               what still comes is discarded (unread.ts)
 *
 * A call whose bytes wait for the store is not late. Spec: items 4; 10, 9.
 */
import type { FastifyRequest } from 'fastify'
import type { SentBytes } from '../core/contract/operation.ts'
import { answerLate, unhurried } from './raw-answers.ts'

const lookEachMs = 30_000
const fewestBytes = 256 * 1024

/** Follows the bytes of a call until all have come. */
export function followUpload(request: FastifyRequest): void {
  const { raw } = request
  const { socket } = raw
  unhurried.add(socket)
  let before = socket.bytesRead
  const look = setInterval(() => {
    const came = socket.bytesRead - before
    before = socket.bytesRead
    const waitsForUs = raw.readableLength > 0
    if (raw.complete || waitsForUs || came >= fewestBytes) return
    request.refusal = 'request.timeout'
    answerLate(socket)
  }, lookEachMs).unref()
  const stop = () => {
    clearInterval(look)
    unhurried.delete(socket)
    socket.off('close', stop)
  }
  raw.once('close', stop)
  socket.once('close', stop)
}

export function sentBytes({ raw, headers }: FastifyRequest): SentBytes {
  const { 'content-length': length, 'content-range': range } = headers
  return { stream: raw, length: length === undefined ? undefined : Number(length), range }
}
