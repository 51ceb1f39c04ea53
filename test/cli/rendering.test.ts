/** What people read: safe for a terminal, fitting it, and in words. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { endingOf } from '../../src/cli/failure.ts'
import { details, folded } from '../../src/cli/render/details.ts'
import { journalLine } from '../../src/cli/render/journal.ts'
import { day, moment } from '../../src/cli/render/moment.ts'
import { printable } from '../../src/cli/render/printable.ts'
import { problemLines, ruleInWords } from '../../src/cli/render/problem.ts'
import { sizeInWords, sparkline } from '../../src/cli/render/sparkline.ts'
import { type Column, table } from '../../src/cli/render/table.ts'
import { Problem, type ProblemCode, problems } from '../../src/core/contract/problem.ts'

describe('text that others wrote', () => {
  test.each([
    ['an escape sequence', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['a C1 control', 'a\u009bb', 'a\\u009bb'],
    ['a line break', 'a\r\nb', 'a\\u000d\\u000ab'],
    ['a direction override', 'a\u202eb', 'a\\u202eb'],
    ['a direction isolate', 'a\u2066b', 'a\\u2066b'],
    ['a zero-width space', 'a\u200bb', 'a\\u200bb'],
    ['a lone surrogate', 'a\ud800b', 'a\\ud800b'],
  ])('%s is written out', (_, text, shown) => expect(printable(text)).toBe(shown))

  test.each(['Zoë', '株式会社', '🦊', 'naïve — ok'])('%s stays as it is', (text) => expect(printable(text)).toBe(text))

  test('cannot leave its cell, its line or its detail', async () => {
    const hostile = 'x\n\u001b]0;title\u0007\u202e'
    const drawn = await table([hostile], [{ head: 'NAME', cell: (row) => row }], '')
    const lines = [
      drawn,
      details([['name', hostile]]),
      ...problemLines(new Problem('auth.scope_required', { scope: hostile })),
    ].join('\n')
    expect(lines).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(drawn.split('\n')).toHaveLength(2)
  })
})

describe('tables', () => {
  const columns: readonly Column<{ id: string; name: string }>[] = [
    { head: 'NAME', cell: ({ name }) => name },
    { head: 'ID', cell: ({ id }) => id, whole: true },
  ]
  const row = { id: '0190c9d2-7a3b-7cde-8f01-23456789abcd', name: 'A name that is rather long for a table' }

  test('an empty list says so in words', async () => expect(await table([], columns, 'None yet.')).toBe('None yet.'))

  test('an empty cell is a dash', async () => expect(await table([{ ...row, name: '' }], columns, '')).toContain('-  '))

  test('fit the terminal by cutting names, never ids', async () => {
    const drawn = await table([row], columns, '', 60)
    expect(Math.max(...drawn.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60)
    expect(drawn).toContain(row.id)
    expect(drawn).toContain('…')
  })

  test('shorten ids where a name would have no room, and never where there is no terminal', async () => {
    const wide = [...columns, { head: 'STATE', cell: () => 'PENDING_DELETION', whole: true as const }]
    const drawn = await table([row], wide, '', 60)
    expect(Math.max(...drawn.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60)
    expect(drawn).toContain('A name that is rather long…')
    expect(drawn).toContain('0190c9d2…abcd')
    expect(drawn).toContain('`-o csv` prints them whole.')
    for (const width of [undefined, 80]) expect(await table([row], wide, '', width)).toContain(row.id)
  })

  test('put ids below their rows where the rest would be cut short, and keep the minute of a moment', async () => {
    const cell = (text: string) => () => text
    const wide: readonly Column<typeof row>[] = [
      { head: 'CREATED', cell: cell('2026-11-20 12:32:46 +01:00') },
      { head: 'EVENT', cell: cell('svc.work.item.created.v1') },
      { head: 'STATUS', cell: cell('DEAD_LETTER'), whole: true },
      { head: 'LAST', cell: cell('connect.timeout') },
      { head: 'ID', cell: ({ id }) => id, whole: true },
    ]
    expect((await table([row, row], wide, '', 80)).split('\n')).toEqual([
      'CREATED           EVENT                     STATUS       LAST',
      '  ID',
      ...[row, row].flatMap(({ id }) => [
        '2026-11-20 12:32  svc.work.item.created.v1  DEAD_LETTER  connect.timeout',
        `  ${id}`,
      ]),
    ])
    expect(await table([row], wide, '', 160)).toContain(`12:32:46 +01:00  svc.work.item.created.v1`)
  })

  test('never cut a day', async () => {
    const wide: readonly Column<typeof row>[] = [
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'STATE', cell: () => 'PENDING_DELETION', whole: true },
      { head: 'CREATED', cell: () => '2026-11-20' },
      { head: 'ID', cell: ({ id }) => id, whole: true },
    ]
    for (const width of [40, 60, 80]) expect(await table([row], wide, '', width)).toContain('2026-11-20')
  })

  test('show the end of an address, too, by which people tell them apart', async () => {
    const url = 'https://hooks.example.org/services/of/acme'
    const drawn = await table([url], [{ head: 'TARGET', cell: (text) => text }], '', 20)
    expect(drawn).toMatch(/^https:\/\/ho…s\/of\/acme$/m)
  })

  test('are blocks of whole values where their lines would not fit', async () => {
    const path = `tenants/${row.id}/20261125T083949Z`
    const wide = [...columns, { head: 'PATH', cell: () => path, whole: true as const }]
    const drawn = await table(
      [row, row],
      [...wide, { head: 'STATE', cell: () => 'PENDING_DELETION', whole: true }],
      '',
      60,
    )
    expect(drawn.split('\n\n')).toHaveLength(2)
    expect(drawn).toContain(`ID     ${row.id}\nPATH   ${path}\nSTATE  PENDING_DELETION`)
  })

  test('let a last column of words go on below itself', async () => {
    const checks = [
      ['ok', 'disk space', 'free for a folder whose name is long enough'],
      ['warn', 'clock', 'differs'],
    ]
    const heads = ['', 'CHECK', 'FOUND']
    const three = heads.map((head, at) => ({ head, cell: (row: string[]) => row[at] ?? '', whole: true as const }))
    expect(await table(checks, three, '', 46)).toBe(
      [
        '      CHECK       FOUND',
        'ok    disk space  free for a folder whose name',
        '                  is long enough',
        'warn  clock       differs',
      ].join('\n'),
    )
  })

  test('shorten ids in 80 columns, too, where a line would be broken otherwise', async () => {
    const wide = [...columns, { head: 'PATH', cell: () => `tenants/${row.id}`, whole: true as const }]
    const drawn = await table([row], wide, '', 80)
    expect(Math.max(...drawn.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('are cut nowhere where there is no terminal', async () => {
    const drawn = await table([row], columns, '', undefined)
    expect(drawn).toContain(row.name)
  })

  test('of many rows have one head, no row more or less, and stay in line', async () => {
    const rows = Array.from({ length: 1234 }, (_, number) => ({ id: String(number), name: `Name ${number}` }))
    const lines = (await table(rows, columns, '')).split('\n')
    expect(lines).toHaveLength(1235)
    expect(lines.filter((line) => line.startsWith('NAME'))).toHaveLength(1)
    const at = lines[0]!.indexOf('ID')
    expect(lines.slice(1).every((line, number) => line.slice(at) === String(number) && line[at - 1] === ' ')).toBe(true)
  })

  test('count wide characters as two columns', async () => {
    const drawn = await table(
      [
        { id: 'x', name: '株式会社株式会社' },
        { id: 'y', name: 'abcdefghijklmnop' },
      ],
      columns,
      '',
      undefined,
    )
    expect(drawn).not.toContain('…')
  })

  test('of plain text do not load what measures other scripts', async () => {
    onTestFinished(() => vi.doUnmock('string-width'))
    vi.doMock('string-width', () => {
      throw new Error('it was loaded')
    })
    const drawnOf = (name: string) => table([{ id: 'x', name }], columns, '', undefined)
    await expect(drawnOf('plain')).resolves.toContain('plain')
    await expect(drawnOf('株式会社')).rejects.toThrow()
  })

  test('measure pictures and marks as a terminal does, and cut between characters as people see them', async () => {
    const [cup, thumb, accented] = ['☕', '👍🏽', 'e\u0301']
    const rows = [cup.repeat(10), thumb.repeat(10), accented.repeat(20)].map((name) => ({ id: 'id', name }))
    const byName = [columns[0]!, { head: 'ID', cell: ({ id }: { id: string }) => id }]
    const whole = (await table(rows, byName, '', undefined)).split('\n').slice(1)
    expect(whole).toEqual(rows.map(({ name }) => `${name}  id`))
    const cut = (await table(rows, byName, '', 14)).split('\n').slice(1)
    expect(cut).toEqual([`${cup.repeat(4)}…   id`, `${thumb.repeat(4)}…   id`, `${accented.repeat(9)}…  id`])
  })
})

describe('moments', () => {
  test('carry their distance from UTC, so that a pasted line stays true', () => {
    expect(moment('2026-11-20T12:00:00.000Z')).toMatch(/^2026-11-\d\d \d\d:00:00 [+-]\d\d:00$/)
    expect(new Date(moment('2026-11-20T12:00:00.000Z').replace(' ', 'T').replace(' ', '')).toISOString()).toBe(
      '2026-11-20T12:00:00.000Z',
    )
  })
  test('that are none are a dash', () => expect([moment(null), day(null)]).toEqual(['-', '-']))
})

describe('problems', () => {
  const codes = Object.keys(problems) as ProblemCode[]

  test.each(codes)('%s is said without a gap', (code) => {
    const names: readonly string[] = (problems[code] as { params?: readonly string[] }).params ?? []
    const [line] = problemLines(new Problem(code, Object.fromEntries(names.map((name) => [name, `a-${name}`]))))
    expect(line).not.toMatch(/[{}]/)
    expect(line).toMatch(/[.`]$/)
  })

  test('of a newer server are told as they are', () => {
    expect(problemLines(new Problem('later.code' as ProblemCode, {}, { status: 409 }))).toEqual([
      'The server refused the request: later.code.',
    ])
  })

  /** What a verification finds is no rule of a request; the command that verifies words it. */
  const findings = ['document.other_workspace', 'journal.entries', 'data.left']

  test('every rule that the product can break is in words', () => {
    const source = readdirSync('src/core', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join('src/core', name), 'utf8'))
      .join('\n')
    const codes = [
      ...source.matchAll(/(?:broken\(|refuseMember\([^,()]+, |shapeFault\(|code: )['`]([a-z_]+\.[a-z_]+)['`]/g),
    ].map(([, code]) => code!)
    const rules = [...new Set(codes)].filter((code) => !(code in problems) && !findings.includes(code))
    expect(rules.length).toBeGreaterThan(10)
    expect(rules.filter((code) => ruleInWords(code).startsWith('violates the rule'))).toEqual([])
  })

  test.each([
    [400, 'usage'],
    [422, 'usage'],
    [413, 'usage'],
    [404, 'notFound'],
    [410, 'notFound'],
    [401, 'notAllowed'],
    [403, 'notAllowed'],
    [409, 'conflict'],
    [412, 'conflict'],
    [429, 'rateLimited'],
    [500, 'failed'],
    [502, 'unreached'],
    [503, 'unreached'],
    [504, 'unreached'],
  ] as const)('status %i ends as %s', (status, ending) => expect(endingOf(status)).toBe(ending))
})

test('details go on below themselves, from word to word, and break no word', () => {
  const id = '0190c9d2-7a3b-7cde-8f01-23456789abcd'
  const members = [
    ['says', 'one two three four five six seven'],
    ['id', id],
  ] as const
  expect(details(members, 32)).toBe(`says  one two three four five\n      six seven\nid    ${id}`)
  expect(details(members, undefined)).toBe(`says  one two three four five six seven\nid    ${id}`)
})

test('what could not be read is named in the words of a command, not as a path or as JSON', () => {
  const errors = [{ parameter: 'jobId', code: 'string.format', params: { format: 'uuid' } }]
  const lines = problemLines(new Problem('request.malformed', {}, { errors }))
  expect(lines).toHaveLength(2)
  expect(lines[0]).toBe('The request could not be read. Each line below shows a member and the rule that it violates.')
})

describe('a journal line', () => {
  const entry = {
    id: '0190c9d2-7a3b-7cde-8f01-23456789abcd',
    at: '2026-11-20T12:00:00.000Z',
    action: 'tenant.suspended',
    actor: { kind: 'RECOVERY', account_id: null, via: 'RECOVERY' },
    tenant: { id: '0190c9d2-7a3b-7cde-8f01-23456789abcd', slug: 'acme' },
    subject: null,
    params: { os_user: 'root', host: 'db-1', reason: 'a\nb', until: 'the end of the month' },
  } as const

  test('says when, what, where, by whom and why', () =>
    expect(journalLine(entry, () => undefined)).toMatch(
      /tenant\.suspended {2,}acme {2,}RECOVERY root@db-1 {2,}reason=a\\u000ab {2}until=the end of the month$/,
    ))

  test.each([60, 80, 130, 160])('fits into %i columns', (width) => {
    const lines = journalLine(entry, () => undefined, width).split('\n')
    expect(lines.filter((line) => line.length > width)).toEqual([])
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toMatch(
      /tenant\.suspended acme RECOVERY root@db-1 reason=a\\u000ab until=the end of the month$/,
    )
  })
})

test('sentences go on below themselves, behind their label', () => {
  const text = '  password       closed: the account no longer has a role\nWhy: a word that has no room left'
  expect(folded(text, 44)).toBe(
    '  password       closed: the account no\n                 longer has a role\nWhy: a word that has no room left',
  )
  expect(folded(text, 24)).toBe(
    '  password       closed:\n  the account no longer\n  has a role\nWhy: a word that has no\nroom left',
  )
  expect(folded(text, undefined)).toBe(text)
})

describe('numbers', () => {
  test.each([
    [[], ''],
    [[0, 0], '▁▁'],
    [[0, 1, 1000], '▁▂█'],
    [[1, 2, 3, 4, 5, 6, 7], '▂▃▄▅▆▇█'],
    [[1e18, 0], '█▁'],
  ])('%j as bars', (numbers, bars) => expect(sparkline(numbers)).toBe(bars))

  test.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [10_240, '10 KiB'],
    [5n * 1024n ** 4n, '5.0 TiB'],
    [5_000_000_000_000_000n, '4547 TiB'],
  ])('%s bytes as %s', (bytes, words) => expect(sizeInWords(bytes)).toBe(words))
})
