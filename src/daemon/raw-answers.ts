/**
 * Answers to input that never becomes a request: bytes that Node's parser refuses, headers
 * that are too large or too slow, CONNECT, an unknown Expect.
 *
 * There is no request object yet, so the problem document is written by hand. The connection
 * is closed, because after a parser error the start of the next request is unknown.
 * Spec: decisions 1, Problems ("Every answer carries X-Request-Id").
 */

import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Problem, problemBody } from '../core/contract/problem.ts'
import { newId } from '../core/kernel/values/id.ts'
import { problemType } from './refusals.ts'

const ending = new WeakSet<Duplex>()

/** Connections whose call brings a file, for which the limit of a whole request does not hold (uploads.ts). */
export const unhurried = new WeakSet<Duplex>()

/** Ends the connection after the current answer; further requests on it are not answered. */
export const endConnection = (socket: Duplex) => ending.add(socket)

export const isEnding = (socket: Duplex) => ending.has(socket)

/** The answer to a parser error, by Node's error code. */
export function answerParserError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket)) return
  if (isEnding(socket)) {
    socket.end()
    return
  }
  if (error.code === 'ECONNRESET' || socket.destroyed) {
    socket.destroy()
    return
  }
  answerRaw(socket, problemOfParser(error.code))
}

/** Answers 408 and closes: the call did not bring its body in time. */
export const answerLate = (socket: Duplex) => answerRaw(socket, new Problem('request.timeout'))

function problemOfParser(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request.timeout')
  const fault = code === 'HPE_HEADER_OVERFLOW' ? 'header.too_large' : 'http.syntax'
  return new Problem('request.malformed', {}, { errors: [{ parameter: '', code: fault, params: {} }] })
}

/** Cases that Node answers by itself, or not at all, also become problems. */
export function answerTheRest(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    answerRaw(socket, new Problem('request.method', { allow: '' }, { headers: { allow: '' } }))
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { head, body } = rawAnswer(
      new Problem(
        'request.malformed',
        {},
        { errors: [{ parameter: 'Expect', code: 'value.one_of', params: { values: ['100-continue'] } }] },
      ),
    )
    response.writeHead(400, { ...head, connection: 'close' }).end(body)
  })
}

function answerRaw(socket: Duplex, problem: Problem): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { head, body } = rawAnswer(problem)
  const lines = Object.entries({ ...head, ...problem.headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

/** A problem as it is written by hand, without the headers of its own status. `id`: that of the request. */
export function rawAnswer(problem: Problem): { id: string; head: Record<string, string>; body: string } {
  const id = newId()
  const body = JSON.stringify(problemBody(problem, id))
  return {
    id,
    head: {
      'content-type': problemType,
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': id,
      'cache-control': 'no-store',
    },
    body,
  }
}
