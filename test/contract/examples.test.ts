/**
 * The examples of the reference are what a daemon answers: each area is played again as a story, and its file has to be
 * what came of it. `npx vitest run test/contract/examples.test.ts -u` writes the files.
 */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import * as boards from './examples/boards.ts'
import * as integrating from './examples/integrating.ts'
import * as operating from './examples/operating.ts'
import * as people from './examples/people.ts'
import * as privacy from './examples/privacy.ts'
import { openScene, type Scene, type Shown } from './examples/scene.ts'

const { abridged, delivered: _, ...integration } = integrating
const { near, consents: _told, ...accounts } = people
const stories: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  ...boards,
  ...accounts,
  ...integration,
  ...operating,
  ...privacy,
}

const every: readonly Operation[] = Object.values(operations)
const areas = [...new Set(every.map(({ area }) => area))]

/** The first element of a list that is long and the same for everybody. */
const firstOf = (shown: Shown): Shown => {
  const { data, ...rest } = shown.answer as { readonly data: readonly unknown[] }
  return { ...shown, answer: { ...rest, data: data.slice(0, 1) } }
}

describe.each(areas)('the examples of %s', (area) => {
  test('are what is sent and received', async () => {
    const story = stories[area]
    if (!story) throw new Error(`The area ${area} needs a story in test/contract/examples/`)
    const scene = await openScene({ mode: 'multi', ...near })
    await story(scene).finally(() => scene.close())
    const ids = every.filter((operation) => operation.area === area).map(({ id }) => id)
    expect(ids.filter((id) => !scene.shown.has(id as never))).toEqual([])
    const found = ids.map((id) => {
      const shown = scene.shown.get(id as never)!
      return [id, abridged.has(id) ? firstOf(shown) : shown]
    })
    const text = `${JSON.stringify(Object.fromEntries(found), null, 2)}\n`
    await expect(text).toMatchFileSnapshot(`../../src/core/contract/examples/${area}.json`)
  })
})
