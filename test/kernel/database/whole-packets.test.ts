/** What a rule gives to a connection at once leaves in one write. Decisions 0176, 0511. */
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sendWholePackets } from '../../../src/core/kernel/database/whole-packets.ts'

/** A stream as a socket is one, and the pieces of each of its writes. */
function stream() {
  const writes: string[][] = []
  const written = new Writable({
    write(piece: Buffer, _, done) {
      writes.push([piece.toString()])
      done()
    },
    writev(pieces, done) {
      writes.push(pieces.map(({ chunk }) => (chunk as Buffer).toString()))
      done()
    },
  }) as unknown as Socket
  sendWholePackets(written)
  return { written, writes }
}

const long = (letter: string) => letter.repeat(1_024)

test('pieces that the driver could not hold back leave with the rest, which it sends a moment later', async () => {
  const { written, writes } = stream()
  written.write(Buffer.from(long('a')))
  written.write(Buffer.from(long('b')))
  process.nextTick(() => written.write(Buffer.from('the rest')))
  await turn()
  expect(writes).toEqual([[long('a'), long('b'), 'the rest']])
})

test('more than 4 KiB leave in parts, while the rest is being written', async () => {
  const { written, writes } = stream()
  for (const letter of 'abcdef') written.write(Buffer.from(long(letter)))
  expect(writes).toEqual([[...'abcde'].map(long)])
  written.write(Buffer.from('the rest'))
  await turn()
  expect(writes).toEqual([[...'abcde'].map(long), [long('f'), 'the rest']])
})

test('they leave in this turn if there is no rest', async () => {
  const { written, writes } = stream()
  written.write(Buffer.from(long('a')))
  written.write(Buffer.from(long('b')))
  await turn()
  expect(writes).toEqual([[long('a'), long('b')]])
})

test('a short piece is not held back beyond the code that wrote it', async () => {
  const { written, writes } = stream()
  written.write(Buffer.from('one'))
  await Promise.resolve()
  written.write(Buffer.from('two'))
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(writes).toEqual([['one', 'two']])
})

test('the next turn is another packet, and an end loses nothing', async () => {
  const { written, writes } = stream()
  written.write(Buffer.from('one'))
  await turn()
  written.write(Buffer.from(long('b')))
  written.end()
  await turn()
  expect(writes).toEqual([['one'], [long('b')]])
})
