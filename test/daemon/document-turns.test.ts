/** A source that asks for the document again and again waits for itself, and nobody else does. Spec: decisions 7. */
import { expect, test } from 'vitest'
import { openDocumentTurns } from '../../src/daemon/document-turns.ts'

/** 1 MB is 50 ms. */
const megabyte = 1_000_000

/** How long each of them waits, in ms, if they ask at one moment. */
async function waits(...asking: readonly string[]): Promise<number[]> {
  const waited = asking.map(() => 0)
  const turns = openDocumentTurns(
    () => 7,
    async (ms) => {
      waited[at] = ms
    },
  )
  let at = 0
  for (; at < asking.length; at += 1) await turns.wait(asking[at] as string, megabyte)
  return waited
}

test('the first does not wait, and each next one waits for those before it', async () => {
  expect(await waits('a', 'a', 'a')).toEqual([0, 50, 100])
})

test('another source does not wait', async () => {
  expect(await waits('a', 'a', 'b', 'a', 'b')).toEqual([0, 50, 0, 100, 50])
})

test('whoever has waited long enough owes nothing', async () => {
  let moment = 0
  let waited = 0
  const turns = openDocumentTurns(
    () => moment,
    async (ms) => {
      waited += ms
    },
  )
  for (let n = 0; n < 100; n += 1) {
    await turns.wait('a', megabyte)
    moment += 50
  }
  expect(waited).toBe(0)
})

test('the sources that are remembered are bounded: the one that asked first is forgotten', async () => {
  const many = Array.from({ length: 10_000 }, (_, n) => `source ${n}`)
  const waited = await waits('first', ...many, 'first', many.at(-1) as string)
  expect(waited.slice(-2)).toEqual([0, 50])
})
