/**
 * Answers that go out before their request's body has come: refusals by the head alone, and bodies that are too large.
 *
 *    the answer goes out at once          what still comes is discarded
 *    the body ends within a second        the connection goes on, or closes if it was to close
 *    it does not                          the connection is closed
 *
 * A connection that is closed beside unread bytes is reset: its caller, or a proxy between, that is still sending may
 * lose the answer, and a proxy then answers 502. RFC 9112, 9.6.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { isEnding } from './raw-answers.ts'

const discardedForMs = 1_000

export function discardUnread(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (hasBody(request.raw) && !request.raw.complete && !isEnding(request.raw.socket)) outlast(request.raw, reply.raw)
    done(null, payload)
  })
}

function outlast(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  let isLast = false
  // Node calls this behind the last answer of a connection.
  socket.destroySoon = () => {
    if (request.complete) Socket.prototype.destroySoon.call(socket)
    else {
      isLast = true
      socket.end()
    }
  }
  response.once('finish', () => {
    if (request.complete) return
    const late = setTimeout(() => socket.destroy(), discardedForMs)
    const stop = () => clearTimeout(late)
    socket.once('close', stop)
    request.once('end', () => {
      socket.off('close', stop)
      stop()
      if (isLast) socket.destroy()
    })
    request.resume()
  })
}

/** Whether a body is announced. */
export const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
