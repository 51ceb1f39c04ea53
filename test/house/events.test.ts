/** The catalog of events against the source: what is emitted is declared, and what is declared is emitted. */
import { describe, expect, test } from 'vitest'
import { type EventDeclaration, subjectOf, trailActionOf, trailSubjectOf } from '../../src/core/contract/event.ts'
import { catalog } from '../../src/core/contract/event-catalog.ts'
import { dataSchemaOf } from '../../src/core/contract/event-schema.ts'
import { type SourceFile, sourceFiles } from './source.ts'

const declared = Object.entries(catalog) as [string, EventDeclaration][]
const isDeclaration = ({ path }: SourceFile) => path.endsWith('/events.ts')
const rules = sourceFiles('src/core').filter((file) => !isDeclaration(file))

/** Names stand in the source as they are, so that whoever looks for one finds it. */
const areas = new Set(declared.map(([name]) => name.slice(0, name.indexOf('.'))))
const named = new RegExp(`'((?:${[...areas].join('|')})(?:\\.[a-z_]+){2})'`, 'g')
const namesIn = (files: readonly SourceFile[]) =>
  new Set(files.flatMap(({ text }) => [...text.matchAll(named)].map(([, name]) => name as string)))

const undeclared = (names: ReadonlySet<string>) => [...names].filter((name) => !Object.hasOwn(catalog, name))
const unwritten = (names: ReadonlySet<string>) => declared.map(([name]) => name).filter((name) => !names.has(name))

describe('the catalog', () => {
  const emitted = namesIn(rules)

  test('has every event that a rule emits', () => {
    expect(undeclared(namesIn([{ path: 'src/core/a.ts', text: "name: 'work.tenant.painted'" }]))).toEqual([
      'work.tenant.painted',
    ])
    expect(emitted.size).toBeGreaterThan(25)
    expect(undeclared(emitted), 'declare it in its area, beside the contract').toEqual([])
  })

  test('has no event that nobody emits', () => {
    expect(unwritten(new Set())).toHaveLength(declared.length)
    expect(unwritten(emitted), 'nothing writes it, or its name is put together from parts').toEqual([])
  })

  test('no name is put together where it is emitted', () => {
    const builds = /(?:name: |record\()`/
    expect('emit({ name: `work.item.$' + '{what}`').toMatch(builds)
    expect('ctx.record(`work.item.$' + '{what}`').toMatch(builds)
    const emitters = rules.filter(({ text }) => /ctx\.(?:emit|record)\(|NewEvent/.test(text))
    expect(emitters.filter(({ text }) => builds.test(text)).map(({ path }) => path)).toEqual([])
  })

  /** Rules that write an event without the entry that its declaration describes. */
  const emitsAlone: Readonly<Record<string, string>> = {
    'areas/auth/password/forgotten-password.ts':
      'its entry says that the password was reset, its event that it changed',
    'areas/auth/token/ending.ts':
      'sessions that end together have one entry; tokens, an event statement for a thousand',
    'areas/consents/acts.ts': 'its entry says whether it was given or withdrawn, its event that it changed',
    'areas/privacy/evidence.ts': 'one event for granted and refused, one for done and withdrawn; the entry says which',
    'areas/restores/closing.ts':
      'the entry says whether it was a rewind, its undo or a restore; the event only what readers do then',
    'areas/tenants/deletion/legal-holds.ts': 'one statement for up to a thousand holds',
    'areas/tenants/provision.ts': 'a new workspace has one entry, and an event for each thing in it',
  }

  test('every other event is written with its entry, by `ctx.record`', () => {
    const emits = ({ text }: SourceFile) => /ctx\.emit\(/.test(text)
    expect(emits({ path: 'src/core/areas/a/b.ts', text: 'await ctx.emit({ name, data })' })).toBe(true)
    const emitting = rules.filter(emits).map(({ path }) => path.slice('src/core/'.length))
    expect(emitting.sort(), 'write ctx.record(name, data), or say here why not').toEqual(Object.keys(emitsAlone).sort())
  })

  test.each([
    ['work.label.changed', '/containers/c/labels/l', { kind: 'label', id: 'l' }, 'label.changed'],
    ['identity.second_factor.removed', '/accounts/a', { kind: 'account', id: 'a' }, 'second_factor.removed'],
    ['ai.model.switched_on', '/ai/models/l', { kind: 'ai_model', id: 'l' }, 'ai_model.switched_on'],
    ['lifecycle.hold.placed', '/retention/holds/l', { kind: 'hold', id: 'l' }, 'lifecycle.hold_placed'],
  ] as const)('%s says by itself what it is about', (name, subject, trailSubject, action) => {
    const data = { id: 'l', container_id: 'c', account_id: 'a' }
    expect(subjectOf(catalog[name], data)).toBe(subject)
    expect(trailSubjectOf(catalog[name], data)).toEqual(trailSubject)
    expect(trailActionOf(name, catalog[name])).toBe(action)
  })

  test('no two areas declare the same name', () => {
    const names = sourceFiles('src/core')
      .filter(isDeclaration)
      .flatMap(({ text }) => [...text.matchAll(/^ {2}'([a-z_.]+)':/gm)].map(([, name]) => name))
    expect(names).toHaveLength(declared.length)
    expect(new Set(names).size).toBe(names.length)
  })

  test('says of each event whose data names a container that it is of that container', () => {
    const members = (event: EventDeclaration) => Object.keys(dataSchemaOf(event.data).properties ?? {})
    const undeclaredPlace = (all: readonly [string, EventDeclaration][]) =>
      all
        .filter(([name, event]) => {
          const place = members(event).find((member) => ['container_id', 'collection_id'].includes(member))
          return event.container !== (name.startsWith('work.container.') ? 'id' : (place ?? null))
        })
        .map(([name]) => name)
    const [bucket] = declared.filter(([name]) => name === 'work.bucket.changed')
    expect(undeclaredPlace([['work.bucket.changed', { ...bucket![1], container: null }]])).toHaveLength(1)
    expect(undeclaredPlace(declared), 'an ADMIN is told by it of private containers').toEqual([])
  })

  test.each(declared)(
    '%s: its example is one, and its schema can be published',
    (name, { data, example, when, subject, kind }) => {
      expect(name).toMatch(/^[a-z]+(\.[a-z][a-z_]*){2}$/)
      expect(data.parse(example), 'the example names what the schema drops').toEqual(example)
      expect(data.safeParse({ nobody: 'declared this' }).success).toBe(false)
      const schema = dataSchemaOf(data)
      expect(schema).toMatchObject({ type: 'object' })
      expect(Object.keys(schema.properties ?? {})).toEqual(expect.arrayContaining(Object.keys(example as object)))
      expect(when).toMatch(/^[a-z].*[^.]$/)
      expect(subject).toMatch(/^(\/[a-z-]+(\/\{[a-z_]+\})?)+$/)
      const named = [...subject.matchAll(/\{([a-z_]+)\}/g)].map(([, member]) => member)
      expect(schema.required, 'the subject names what the data need not have').toEqual(expect.arrayContaining(named))
      expect(kind).toMatch(/^[a-z_]+$/)
    },
  )
})
