/** Names and sizes. Each rule is tried on an offender first. */
import { describe, expect, test } from 'vitest'
import { type SourceFile, sourceFiles } from './source.ts'

const files = ['src', 'test', 'bench', 'scripts'].flatMap(sourceFiles)
const lineCount = ({ text }: SourceFile) => text.split('\n').length - 1
const fileOf = (path: string, lines = 1): SourceFile => ({ path, text: '\n'.repeat(lines) })
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1).replace(/(\.test|\.d)?\.ts$/, '')

const mostLines = ({ path }: SourceFile) =>
  path.startsWith('src/') && !path.startsWith('src/core/contract/') ? 400 : 500
const sayNothing = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'misc',
  'types',
  'service',
  'manager',
  'repository',
  'dal',
])

const asksTheHost: ReadonlySet<string> = new Set([
  'src/core/kernel/values/time.ts',
  'src/core/kernel/values/clock.ts', // the purge's second clock
  'src/core/kernel/database/clock.ts', // compares
  'src/core/areas/backup/resume-jobs.ts', // times of files are the host's
])

const rules = [
  {
    name: 'a file fits in a head',
    why: 'split it by story, not by layer',
    breaks: (file: SourceFile) => lineCount(file) > mostLines(file),
    offence: fileOf('src/core/long.ts', 401),
  },
  {
    name: 'names are kebab-case',
    why: 'one spelling for import, search and talk',
    breaks: ({ path }: SourceFile) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(nameOf(path)),
    offence: fileOf('src/core/TenantList.ts'),
  },
  {
    name: "names are the story's noun",
    why: 'a file called utils is where stories go to be lost',
    breaks: ({ path }: SourceFile) => sayNothing.has(nameOf(path)),
    offence: fileOf('src/core/utils.ts'),
  },
  {
    name: 'every module of the source says what it is',
    why: 'the header is the map; a command has its summary',
    breaks: ({ path, text }: SourceFile) =>
      path.startsWith('src/') && !path.startsWith('src/cli/commands/') && !/\/\*\*/.test(text),
    offence: fileOf('src/core/silent.ts'),
  },
  {
    name: 'nothing is left for later',
    why: 'an open end is an issue, not a comment',
    breaks: ({ path, text }: SourceFile) => path.startsWith('src/') && /\b(TODO|FIXME|XXX)\b/.test(text),
    offence: { path: 'src/core/later.ts', text: '// TODO: one day' },
  },
  {
    name: 'a class of advisory locks is given out in one place',
    why: 'two meanings of one number wait for each other, and are taken for each other',
    breaks: ({ path, text }: SourceFile) =>
      path.startsWith('src/') && /advisory_(xact_)?lock(_shared)?\((\d+,|\$\{(?!lockClasses\.))/.test(text),
    offence: { path: 'src/core/own.ts', text: 'tx`select pg_advisory_xact_lock(7306, 1)`' },
  },
  {
    name: 'nobody asks the host for the time of day',
    why: 'what is stored and signed has the time of the database: values/time.ts; a wait has performance.now()',
    breaks: ({ path, text }: SourceFile) =>
      path.startsWith('src/core/') && !asksTheHost.has(path) && /\bDate\.now\(|\bnew Date\(\)/.test(text),
    offence: { path: 'src/core/areas/late.ts', text: 'const at = new Date()' },
  },
  {
    name: 'no test is skipped',
    why: 'a promise without a test that runs is no promise',
    breaks: ({ path, text }: SourceFile) =>
      path.startsWith('test/') && /\b(?:test|it|describe)\.(?:skip|only|todo)\(/.test(text),
    offence: { path: 'test/a.test.ts', text: "test.skip('later', () => {})" },
  },
] as const

describe('files', () => {
  test('are read at all', () => expect(files.length).toBeGreaterThan(80))

  test.each(rules)('$name', ({ why, breaks, offence }) => {
    expect(breaks(offence), 'the rule does not catch its own example').toBe(true)
    expect(
      files.filter((file) => breaks(file) && file.path !== 'test/house/files.test.ts').map(({ path }) => path),
      why,
    ).toEqual([])
  })
})
