/** Every job that the source defines is one that the worker runs. */
import { describe, expect, test } from 'vitest'
import { jobs } from '../../src/core/app/jobs.ts'
import { type SourceFile, sourceFiles } from './source.ts'

interface Defined {
  readonly path: string
  /** What it is called where it is defined, and in the queue. */
  readonly constant: string
  readonly name: string
}

const definition = /export const (\w+) = defineJob\(\{\s*name: '([a-z_]+)'/g
const definedIn = ({ path, text }: SourceFile): Defined[] =>
  [...text.matchAll(definition)].map(([, constant = '', name = '']) => ({ path, constant, name }))

const files = sourceFiles('src')
const defined = files.flatMap(definedIn)
const names = jobs.map(({ name }) => name)
const unlisted = (found: readonly Defined[]) =>
  found
    .filter(({ name }) => !names.includes(name))
    .map(({ path, constant }) => `${path}: put ${constant} into the jobs of its area (src/core/areas/<area>/jobs.ts)`)

describe('jobs', () => {
  test('are all found where they are defined', () => {
    const uses = files.flatMap(({ path, text }) => [...text.matchAll(/= defineJob\(/g)].map(() => path))
    expect(defined.map(({ path }) => path)).toEqual(uses)
    expect(defined.length).toBeGreaterThan(15)
  })

  test('are in the list of their area, or nothing takes them from the queue', () => {
    const offence = definedIn({
      path: 'src/core/areas/items/jobs.ts',
      text: "export const a = defineJob({\n  name: 'a'",
    })
    expect(unlisted(offence), 'the rule does not catch its own example').toHaveLength(1)
    expect(unlisted(defined)).toEqual([])
  })

  test('have names of their own', () => expect(names.toSorted()).toEqual([...new Set(names)].sort()))
})
