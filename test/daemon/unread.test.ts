/** What comes behind an answer that went out before its request's body had come (src/daemon/unread.ts). */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/kernel/values/id.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let owner: Person

beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  owner = await person(daemon, tenantId)
})
afterAll(() => daemon.close())

interface Sender {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  /** Everything that was answered so far. */
  heard(): string
  /** The first error of the connection. */
  error(): string | undefined
}

/** Goes on sending also when the daemon has ended its side, and ends its own behind that and its body. */
async function sender(): Promise<Sender> {
  const socket = connect({ port: daemon.port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
  let [heard, error]: [string, string | undefined] = ['', undefined]
  socket.on('data', (text: string) => {
    heard += text
  })
  socket.on('error', ({ message }) => {
    error ??= message
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  return { socket, closed, heard: () => heard, error: () => error }
}

/** Sends bytes in parts, as a slow line does. */
async function sendSlowly({ socket }: Sender, bytes: number): Promise<void> {
  const part = 'x'.repeat(bytes / 16)
  for (let at = 0; at < 16; at += 1) {
    socket.write(part)
    await pause(10)
  }
}

const bytes = 2_000_000
const head = (method: string, path: string, more: readonly string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Content-Length: ${bytes}`, ...more, '\r\n'].join('\r\n')
const json = 'Content-Type: application/json'
const known = () => `Authorization: Bearer ${owner.token}`

/** What is refused before its body has come: who asks, and what is answered. */
const refused: readonly [string, number, () => string][] = [
  ['too large a body of a stranger', 413, () => head('POST', '/api/v1/auth/sessions', [json])],
  ['too large a body', 413, () => head('POST', '/api/v1/items', [json, known()])],
  ['a body to an unknown path', 404, () => head('POST', '/api/v1/nowhere', [json])],
  ['a body of another type', 415, () => head('POST', '/api/v1/items', ['Content-Type: text/plain', known()])],
  [
    'a file that is not known',
    404,
    () => head('PUT', `/api/v1/media/${newId()}/content`, ['Content-Type: application/octet-stream', known()]),
  ],
]

describe.each(refused)('%s', (_, status, headOf) => {
  const isAnswered = async (caller: Sender) =>
    expect.poll(() => caller.heard()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))

  test('its rest is discarded, and the connection goes on', async () => {
    const caller = await sender()
    caller.socket.write(headOf())
    await isAnswered(caller)
    const goesOn = !/^connection: close/im.test(caller.heard())
    expect(goesOn).toBe(status !== 413)
    await sendSlowly(caller, bytes)
    if (goesOn) caller.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    caller.socket.end()
    await caller.closed
    expect(/HTTP\/1\.1 200 /.test(caller.heard())).toBe(goesOn)
    expect(caller.error()).toBeUndefined()
  })

  test('a caller that wants its connection closed sends its rest, and is not cut off', async () => {
    const caller = await sender()
    caller.socket.write(headOf().replace('Host: x', 'Host: x\r\nConnection: close'))
    await isAnswered(caller)
    await sendSlowly(caller, bytes)
    caller.socket.end()
    await caller.closed
    expect(caller.error()).toBeUndefined()
  })

  test('one that sends its rest for ever is cut off', async () => {
    const caller = await sender()
    caller.socket.write(headOf())
    await isAnswered(caller)
    while (!caller.socket.closed) {
      caller.socket.write('x')
      await pause(20)
    }
    expect(caller.error()).toMatch(/EPIPE|ECONNRESET/)
  })
})
