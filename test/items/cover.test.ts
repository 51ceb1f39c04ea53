/** Covers of items: a picture that the item carries, or a colour. Spec: items 1, N18 and N19; decision 0361. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Media } from '../../src/core/contract/media/operations.ts'
import { code, type Files, openFiles, png } from '../media/files.ts'
import { expectUntouched, pointers } from './desk.ts'

let desk: Files
let item: Item
beforeAll(async () => {
  desk = await openFiles()
})
beforeEach(async () => {
  item = await desk.item()
})
afterAll(() => desk.close())

const read = async ({ id }: Item): Promise<Item> => (await desk.ask(`GET /items/${id}`)).json
const cover = (body: object, more = {}) => desk.ask(`PUT /items/${item.id}/cover`, body, more)
const uncover = () => desk.ask(`DELETE /items/${item.id}/cover`)
const attachment = ({ id }: Media, to = item) => `/items/${to.id}/attachments/${id}` as const
async function attached(content: Buffer | string = png): Promise<Media> {
  const media = await desk.file(content)
  await desk.ask(`PUT ${attachment(media)}`, {}, { as: desk.people.MEMBER })
  return media
}
const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(desk as never, call)

test('is a colour, changed and told once, and taken off once', async () => {
  expect(item.cover).toBeNull()
  const { status, json } = await cover({ color_token: 'teal' })
  expect([status, json]).toEqual([
    200,
    { ...item, cover: { color_token: 'teal' }, version: 2, updated_at: json.updated_at },
  ])
  expect([await read(item), await desk.told(item), await desk.moved(item)]).toEqual([json, json, { cover: null }])
  expect((await leavesAlone(() => cover({ color_token: 'teal' }))).json).toEqual(json)
  expect((await uncover()).status).toBe(204)
  expect(await read(item)).toMatchObject({ cover: null, version: 3 })
  await leavesAlone(uncover)
})

test('is a picture as long as the item carries it, in every answer', async () => {
  const media = await attached()
  const shown = { media_id: media.id }
  expect((await cover(shown)).json).toMatchObject({ cover: shown, version: 2 })
  const [listed] = (await desk.ask('POST /items:query', { filter: { field: 'id', op: 'is', value: item.id } })).json
    .data
  expect(listed).toEqual(await read(item))
  expect(listed.cover).toEqual(shown)
  await desk.ask(`DELETE ${attachment(media)}`)
  expect(await read(item)).toMatchObject({ cover: null, version: 2 })
  await desk.ask(`PUT ${attachment(media)}`, {}, { as: desk.people.MEMBER })
  expect((await read(item)).cover).toEqual(shown)
})

test('comes with a copy: a colour always, a picture with its file', async () => {
  const copy = async (body: object): Promise<Item> => {
    const made = (await desk.ask(`POST /items/${item.id}:duplicate`, body)).json
    expect(made).toEqual(await read(made))
    return made
  }
  await cover({ color_token: 'teal' })
  expect((await copy({ include: [] })).cover).toEqual({ color_token: 'teal' })
  const media = await attached()
  await cover({ media_id: media.id })
  expect((await copy({})).cover).toEqual({ media_id: media.id })
  expect((await copy({ include: ['FIELDS'] })).cover).toBeNull()
})

describe('nobody shows', () => {
  test('a file that the item does not carry: a random one is as somebody else’s', async () => {
    for (const media_id of [(await desk.file(png)).id, randomUUID()]) {
      const refused = await leavesAlone(() => cover({ media_id }))
      expect([refused.status, pointers(refused)]).toEqual([422, [['/media_id', 'reference.unknown']]])
    }
  })

  test('a text, or a picture that has not come', async () => {
    const text = await attached('a text')
    expect(pointers(await leavesAlone(() => cover({ media_id: text.id })))).toEqual([['/media_id', 'value.not_taken']])
    const begun = await desk.begin(100)
    await desk.ask(`PUT ${attachment(begun)}`, {}, { as: desk.people.MEMBER })
    const refused = await leavesAlone(() => cover({ media_id: begun.id }))
    expect([code(refused), refused.json.params]).toEqual([[409, 'media.not_ready'], { state: 'UPLOADING' }])
  })

  test('both, or neither', async () => {
    expect(pointers(await cover({}))).toEqual([['/media_id', 'member.required']])
    expect(pointers(await cover({ media_id: randomUUID(), color_token: 'x' }))).toEqual([
      ['/color_token', 'member.conflicts'],
    ])
  })

  test('anything on what is archived, of another version, or as a COMMENTER', async () => {
    const body = { color_token: 'x' }
    expect(code(await cover(body, { as: desk.people.COMMENTER }))).toEqual([403, 'auth.role_required'])
    expect(code(await cover(body, { headers: { 'if-match': '"7"' } }))).toEqual([412, 'precondition.failed'])
    await desk.act(item, 'archive')
    expect(code(await cover(body))).toEqual([409, 'item.archived'])
    expect(code(await uncover())).toEqual([409, 'item.archived'])
  })
})
