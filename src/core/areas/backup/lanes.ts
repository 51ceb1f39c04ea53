/**
 * Processes a list, `width` items at a time, and reads no more of it than is processed. Rejects with the first failure,
 * after the items in progress have ended.
 */
export async function inLanes<T>(
  width: number,
  list: Iterable<T> | AsyncIterable<T>,
  work: (one: T, lane: number) => Promise<void>,
): Promise<void> {
  const waiting = oneByOne(list)
  const failures: unknown[] = []
  const lane = async (_: unknown, number: number) => {
    try {
      for (let next = await waiting.next(); next.done !== true && failures.length === 0; next = await waiting.next())
        await work(next.value, number)
    } catch (error) {
      failures.push(error)
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  await waiting.return(undefined)
  if (failures.length > 0) throw failures[0]
}

async function* oneByOne<T>(list: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* list
  return undefined
}
