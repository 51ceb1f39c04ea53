/**
 * Decision records have one shape, and the index lists each of them once. Each rule is tried on an
 * offender first.
 *
 *    # NNNN Title ─▶ Status ─▶ Decision ─▶ Why ─▶ Alternatives ─▶ Cost ─▶ Measurements (optional)
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './source.ts'

interface Page {
  /** Its name in the folder, e.g. `0001-one-connection-one-transaction.md`. */
  readonly name: string
  readonly text: string
}

const folder = join(root, 'docs/decisions')
const pages: readonly Page[] = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(join(folder, name), 'utf8'),
}))
const records = pages.filter(({ name }) => name !== 'README.md')
const index = pages.find(({ name }) => name === 'README.md')?.text ?? ''

const required = ['Status', 'Decision', 'Why', 'Alternatives', 'Cost']
const last = 'Measurements'

const numberOf = ({ name }: Page) => name.slice(0, 4)
const titleOf = ({ text }: Page) => text.split('\n', 1)[0] ?? ''

/** The `##` sections in their order; what stands between code fences is no heading. */
function sectionsOf({ text }: Page): readonly { readonly name: string; readonly body: string }[] {
  const prose = text.replace(/^```.*?^```$/gms, '(code)')
  return prose
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ name: part.split('\n', 1)[0] ?? '', body: part.slice(part.indexOf('\n') + 1).trim() }))
}

/** `accepted`, or `superseded by 0123`; undefined where the record says neither. */
function statusOf(page: Page): string | undefined {
  const status = sectionsOf(page).find(({ name }) => name === 'Status')?.body ?? ''
  if (/^Accepted\.(\s|$)/.test(status)) return 'accepted'
  const successor = /^Superseded by \[(\d{4})\]\(\1-[a-z0-9-]+\.md\)/.exec(status)?.[1]
  return successor && `superseded by ${successor}`
}

const inOrder = [...required, last]
const namesOf = (page: Page) => sectionsOf(page).map(({ name }) => name)

const linksOf = ({ text }: Page) => [...text.matchAll(/\]\((\d{4}-[^)#]+)\)/g)].map(([, to = '']) => to)

const wellFormed: Page = {
  name: '0001-example.md',
  text: [
    '# 0001 Example',
    '## Status',
    'Accepted.',
    ...required.slice(1).flatMap((name) => [`## ${name}`, 'Text.']),
  ].join('\n\n'),
}
const offending = (from: string | RegExp, to: string): Page => ({
  ...wellFormed,
  text: wellFormed.text.replace(from, to),
})

const rules: readonly {
  readonly name: string
  readonly why: string
  readonly breaks: (page: Page) => boolean
  readonly offence: Page
}[] = [
  {
    name: 'the file is named by number and subject',
    why: 'NNNN-words-in-kebab-case.md',
    breaks: ({ name }) => !/^\d{4}(-[a-z0-9]+)+\.md$/.test(name),
    offence: { ...wellFormed, name: 'example.md' },
  },
  {
    name: 'the title repeats the number',
    why: 'the first line is `# NNNN Title`',
    breaks: (page) => !new RegExp(`^# ${numberOf(page)} \\S`).test(titleOf(page)),
    offence: offending('# 0001', '# 0002'),
  },
  {
    name: 'every section is there, and no other',
    why: `${required.join(', ')}, and ${last} where there are figures`,
    breaks: (page) => {
      const names = namesOf(page)
      return required.some((name) => !names.includes(name)) || names.some((name) => !inOrder.includes(name))
    },
    offence: offending('\n\n## Cost\n\nText.', ''),
  },
  {
    name: 'the sections stand in order, each once',
    why: inOrder.join(', '),
    breaks: (page) => {
      const places = namesOf(page).map((name) => inOrder.indexOf(name))
      return places.some((place, at) => place <= (places[at - 1] ?? -1))
    },
    offence: offending('## Why\n\nText.\n\n## Alternatives', '## Alternatives\n\nText.\n\n## Why'),
  },
  {
    name: 'no section is empty',
    why: 'write `None recorded.`',
    breaks: (page) => sectionsOf(page).some(({ body }) => body === ''),
    offence: offending('## Why\n\nText.', '## Why'),
  },
  {
    name: 'the status is accepted, or names the successor',
    why: 'begin with `Accepted.` or `Superseded by [NNNN](NNNN-file.md).`',
    breaks: (page) => statusOf(page) === undefined,
    offence: offending('Accepted.', 'In force.'),
  },
  {
    name: 'sections are headings, not bold words',
    why: 'a reader finds `### Subject`, and so does a link',
    breaks: ({ text }) => /^\*\*[^*]+[.:]\*\*/m.test(text),
    offence: offending('## Why\n\nText.', '## Why\n\n**How.** Text.'),
  },
  {
    name: 'a link to a record leads to one',
    why: 'the file does not exist',
    breaks: (page) => linksOf(page).some((to) => !pages.some(({ name }) => name === to)),
    offence: offending('Accepted.', 'Accepted. See [9999](9999-nowhere.md).'),
  },
]

describe('decision records', () => {
  test('are read at all', () => expect(records.length).toBeGreaterThan(80))

  test('have numbers of their own', () => {
    const numbers = records.map(numberOf)
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([])
  })

  test.each(rules)('$name', ({ why, breaks, offence }) => {
    expect(breaks(wellFormed), 'the rule refuses a record that is as it should be').toBe(false)
    expect(breaks(offence), 'the rule does not catch its own example').toBe(true)
    expect(
      records.filter(breaks).map((record) => record.name),
      why,
    ).toEqual([])
  })
})

const lineOf = (page: Page) => `- [${titleOf(page).slice(2)}](${page.name}): ${statusOf(page)}`

/** What the index lacks, and what it lists without a record or twice. */
function faultsOf(listing: string, listed: readonly Page[]): readonly string[] {
  const wanted = listed.map(lineOf)
  const found = listing.split('\n').filter((line) => line.startsWith('- '))
  return [
    ...wanted.filter((line) => !found.includes(line)).map((line) => `missing: ${line}`),
    ...found.filter((line, at) => !wanted.includes(line) || found.indexOf(line) !== at).map((line) => `extra: ${line}`),
  ]
}

describe('the index of decisions', () => {
  test.each([
    ['a record that it does not list', ''],
    ['another title', lineOf(wellFormed).replace('Example', 'Sample')],
    ['another status', lineOf(wellFormed).replace('accepted', 'superseded by 0002')],
    ['a record listed twice', `${lineOf(wellFormed)}\n${lineOf(wellFormed)}`],
    ['a record that does not exist', `${lineOf(wellFormed)}\n- [0002 None](0002-none.md): accepted`],
  ])('is refused with %s', (_, listing) => {
    expect(faultsOf(lineOf(wellFormed), [wellFormed])).toEqual([])
    expect(faultsOf(listing, [wellFormed])).not.toEqual([])
  })

  test('lists every record once, with its title and status', () => expect(faultsOf(index, records)).toEqual([]))

  test('lists the records of a group in the order of their numbers', () => {
    const groups = index.split(/^## /m).map((group) => [...group.matchAll(/^- \[(\d{4}) /gm)].map(([, at]) => at))
    expect(groups.filter((numbers) => numbers.join() !== [...numbers].sort().join())).toEqual([])
  })
})
