/** Questions that are asked at once: their answers, and which of several refusals counts. Decision 0176. */
import { expect, test } from 'vitest'
import { together } from '../../../src/core/kernel/transaction/together.ts'

const later = <T>(ms: number, answer: T) => new Promise<T>((resolve) => setTimeout(() => resolve(answer), ms))
const refusal = async (ms: number, name: string): Promise<never> => {
  await later(ms, undefined)
  throw new Error(name)
}

test('answers everything in the order of the arguments', async () => {
  const [one, two, three] = await together(later(5, 1), 'plain', later(0, [3]))
  expect([one, two, three]).toEqual([1, 'plain', [3]])
})

test('of several refusals the first in the order counts, not the first in time', async () => {
  await expect(together(later(0, 1), refusal(10, 'second'), refusal(0, 'third'))).rejects.toThrow('second')
})

test('refuses only when every question is answered, so that none is asked in a transaction that is over', async () => {
  let isAnswered = false
  const slow = later(10, undefined).then(() => {
    isAnswered = true
  })
  await expect(together(refusal(0, 'first'), slow)).rejects.toThrow('first')
  expect(isAnswered).toBe(true)
})
