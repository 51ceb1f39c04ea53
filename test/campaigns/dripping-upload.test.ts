/** Uploads over slow lines: one that drips is closed, one that is merely slow takes as long as it needs. Spec: items 10, 9. */
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Files, openFiles } from '../media/files.ts'

let files: Files
beforeAll(async () => {
  files = await openFiles()
})
afterAll(() => files.close())

/** Sends so many bytes a second until the answer comes; answers it, and the seconds that it took. */
async function send(sizeBytes: number, bytesPerSecond: number): Promise<{ answer: string; seconds: number }> {
  const { id } = await files.begin(sizeBytes)
  const socket = connect(files.daemon.port, '127.0.0.1')
  let answer = ''
  let isClosed = false
  socket.on('data', (chunk) => {
    answer += chunk.toString()
  })
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('error', () => {})
  const began = performance.now()
  socket.write(
    [
      `PUT /api/v1/media/${id}/content HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${files.people.MEMBER.token}`,
      'Content-Type: application/octet-stream',
      `Content-Length: ${sizeBytes}`,
      '\r\n',
    ].join('\r\n'),
  )
  for (let left = sizeBytes; left > 0 && !isClosed && answer === ''; left -= bytesPerSecond / 10) {
    socket.write(Buffer.alloc(Math.min(left, bytesPerSecond / 10)))
    await pause(100)
  }
  while (!isClosed && answer === '' && performance.now() - began < 90_000) await pause(50)
  socket.destroy()
  return { answer, seconds: (performance.now() - began) / 1000 }
}

test('a call that drips is answered 408 after half a minute, and a slow one is served', async () => {
  const [drip, slow] = await Promise.all([send(1_000_000, 1_000), send(1_000_000, 24_000)])
  expect(drip.answer).toMatch(/^HTTP\/1.1 408 [\s\S]*request.timeout/)
  expect(drip.seconds).toBeGreaterThan(25)
  expect(drip.seconds).toBeLessThan(45)
  expect(slow.answer).toMatch(/^HTTP\/1.1 200 /)
  expect(slow.seconds).toBeGreaterThan(38)
}, 120_000)
