/**
 * README.md from its first command to its last, typed on a terminal: each one ends with 0 and shows what stands there.
 * `npm ci` and `npm test` are left to whoever runs this.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Home, temporaryHome } from '../kit/svc.ts'

const password = 'a pass phrase of five words'
const readme = readFileSync('README.md', 'utf8')

interface Typed {
  readonly line: string
  /** The lines behind it. */
  readonly shown: readonly string[]
}

/** The commands of the blocks, with what each shows. */
const typed: readonly Typed[] = [...readme.matchAll(/^```(sh|console)\n(.*?)^```$/gms)].flatMap(
  ([, kind, block = '']) =>
    kind === 'sh'
      ? [{ line: block.trim().replace(/^npm ci( --omit=dev)? && /, ''), shown: [] }]
      : block
          .split(/^\$ /m)
          .slice(1)
          .map((part) => {
            const [line = '', ...shown] = part.trimEnd().split('\n')
            return { line, shown: shown.filter((one) => one !== '') }
          }),
)
const commands = typed.filter(({ line }) => line !== 'npm test')

let home: Home
beforeAll(() => {
  // As npx says it, so that hints name it, too.
  home = temporaryHome({ SVC_PORT: '0', npm_lifecycle_event: 'npx', npm_lifecycle_script: 'svc' })
  // Under root the database's server runs as another user, who has to get into the folder.
  spawnSync('chmod', ['711', dirname(home.folder), home.folder])
})
afterAll(() => home.remove())

/** The words of `npx svc …`. */
function wordsOf(line: string): string[] {
  const [npx, svc, ...words] = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
  expect([npx, svc], line).toEqual(['npx', 'svc'])
  return words
}

/** Ids, moments, the port and the folder are others each time, and blanks fill columns. */
const alike = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d [+-]\d\d:\d\d)?/g, 'DATE')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(home.folder, '/home/grace/svc')
    .replaceAll(/\*+/g, '*')
    .replaceAll('(profile work)', '(profile svc)')
    .replaceAll(/[ \t]+/g, ' ')

/** What is typed at the questions that the README shows as answered. */
const answersTo = (shown: readonly string[]): Answer[] =>
  shown.flatMap((one) => {
    const [, question = '', answer = ''] = /^✔ (.+?): (.+)$/.exec(one) ?? []
    return question === '' ? [] : [[`${question}:`, `${/^\*+$/.test(answer) ? password : answer}\r`]]
  })

async function type(at: number): Promise<void> {
  const { line, shown } = commands[at] as Typed
  const answers = answersTo(shown)
  const isServing = line === 'npx svc up'
  const behind = async () => {
    // What stands behind `svc up` is typed in another terminal, up to the last command, which stands behind Ctrl-C.
    for (let next = at + 1; next < commands.length - 1; next += 1) await type(next)
    return '\u0003'
  }
  if (isServing) answers.push(['`npx svc up` starts it again.', behind])
  const { code, screen } = await home.onTerminal(wordsOf(line), answers, { COLUMNS: '200' })
  expect([line, code], screen).toEqual([line, isServing ? expect.any(Number) : 0])
  const plain = alike(screen.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, ''))
  const missing = shown.filter((one) => !plain.includes(alike(one).trim()))
  expect(missing, `${line}\n${plain}`).toEqual([])
}

test('is read at all', () => {
  expect(commands.length).toBeGreaterThan(8)
  expect(commands.flatMap(({ shown }) => shown).length).toBeGreaterThan(40)
  expect(typed.length - commands.length).toBe(1)
})

test('every command of README.md, as it stands there, from the first to the last', async () => {
  const up = commands.findIndex(({ line }) => line === 'npx svc up')
  for (let at = 0; at <= up; at += 1) await type(at)
  await type(commands.length - 1)
}, 240_000)
