/** What is found in other forms after a workspace has got another language. Spec: Work on boards, 2, N4; decision 0231. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Indexing, openIndexing } from './indexing.ts'

let desk: Desk
let indexing: Indexing
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
})
afterAll(async () => {
  await indexing.close()
  await desk.close()
})

const found = async (query: string): Promise<string[]> => {
  await indexing.catchUp()
  const { json } = await desk.ask('POST /search', { query })
  return json.data.map(({ kind }: { kind: string }) => kind).sort()
}
const speak = (default_locale: string) =>
  performForAnswer(indexing.installation, operations.updateTenant, recoveryActor(), {
    tenantId: desk.tenantId,
    body: { default_locale },
  })

test('the stems are those of the new language, of items and of comments, and of what is written later', async () => {
  await speak('en')
  const item = await desk.item({ title: 'Häuser aus Holz' })
  await desk.ask(`POST /items/${item.id}/comments`, { body: 'Die Häuser sind alt' })
  // The last word of a question may be a beginning, so the word in question is the first one.
  expect([await found('haus holz'), await found('haus alt')]).toEqual([[], []])
  await speak('de')
  expect([await found('haus holz'), await found('haus alt')]).toEqual([['ITEM'], ['COMMENT']])
  await desk.item({ title: 'Bäume vor Mauern' })
  expect(await found('baum mauern')).toEqual(['ITEM'])
  await speak('en')
  expect([await found('haus holz'), await found('haus alt')]).toEqual([[], []])
})
