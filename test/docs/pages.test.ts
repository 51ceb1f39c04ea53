/** Every command of every page is followed by a test, or stands here with the reason why it cannot be; each can be parsed. */
import { existsSync } from 'node:fs'
import { Parser } from '@oclif/core'
import { describe, expect, test } from 'vitest'
import { readCommands } from '../../scripts/command-pages.ts'
import { type Block, blocksOf, isTyped, pages, proseOf } from './blocks.ts'
import { others, played } from './stories.ts'

const stories = [...played, ...others]

/** Made from the commands themselves, and parsed below. */
const generated = ['docs/cli.md']

const typedBlocks = (page: string) => blocksOf(page).filter(isTyped)
const beginOf = ({ page, line, lines }: Block) => `${page}:${line} ${lines[0]}`

describe('every block of commands', () => {
  test('is followed, or says why not, in the order of its page', () => {
    const wrong = pages.flatMap((page) => {
      const steps = (stories.find((story) => story.page === page)?.steps ?? []).filter((step) => 'block' in step)
      const blocks = typedBlocks(page)
      const unlike = blocks.filter((block, at) => !block.lines[0]?.startsWith(steps[at]?.block ?? '\n'))
      return [...unlike.map(beginOf), ...steps.slice(blocks.length).map(({ block }) => `${page} lacks ${block}`)]
    })
    expect(wrong).toEqual([])
  })

  test('of a story is on a page that is there, once', () => {
    expect(stories.map(({ page }) => page).filter((page) => !pages.includes(page))).toEqual([])
    expect(new Set(stories.map(({ page }) => page)).size).toBe(stories.length)
  })

  test('that is followed elsewhere names a test, and one that cannot be followed a reason', () => {
    const steps = stories.flatMap(({ steps }) => steps)
    const elsewhere = steps.flatMap((step) => ('elsewhere' in step ? [step.elsewhere] : []))
    expect(elsewhere.filter((file) => !existsSync(file))).toEqual([])
    const reasons = steps.flatMap((step) => ('cannot' in step ? [step.cannot] : []))
    expect(reasons.filter((reason) => reason.length < 15)).toEqual([])
    // A list that only grows would be no proof: most is followed.
    const count = (key: string) => steps.filter((step) => key in step).length
    expect(count('play')).toBeGreaterThan(3 * count('cannot'))
  })

  test('says that it is one: no block without a language, and no indented line, is a command', () => {
    const command =
      /^ *(?:\$ )?(?:svc|npm|npx|node|kill|psql|pg_\w+|age|docker|kubectl|systemctl|curl|SVC_\w+=)(?: |$|\S*=)/
    const unsaid = pages
      .filter((page) => !generated.includes(page))
      .flatMap((page) => [
        ...blocksOf(page)
          .filter((block) => block.language === '' && block.lines.some((line) => command.test(line)))
          .map(beginOf),
        ...proseOf(page)
          .split('\n')
          .filter((line) => line.startsWith('    ') && command.test(line))
          .map((line) => `${page} ${line}`),
      ])
    expect(unsaid).toEqual([])
  })
})

interface Written {
  readonly page: string
  readonly words: readonly string[]
  /** In the text a command may be without its arguments. */
  readonly isWhole: boolean
}

const svc = /^(?:\$ )?(?:npx )?svc (.*)$/

/** The words up to where the shell does something else with them. */
const wordsOf = (text: string) =>
  [...text.replace(/\s(?:[<>|&;]|\d>|&&|#).*$/, '').matchAll(/(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare?.replace(/^~/, '/') ?? '',
  )

function writtenIn(page: string): Written[] {
  const isOfCommands = (block: Block) => isTyped(block) || generated.includes(page)
  const inBlocks = blocksOf(page)
    .filter(isOfCommands)
    .flatMap(({ lines }) =>
      lines
        .join('\n')
        .replaceAll(/\\\n\s*/g, '')
        .split('\n'),
    )
    .flatMap((line) => svc.exec(line.replace(/^(?:[A-Z_]+=\S+ )+/, ''))?.[1] ?? [])
    // How a command is used, in the generated page.
    .filter((line) => !/\[flags\]/.test(line))
    .map((line) => ({ page, words: wordsOf(line), isWhole: true }))
  const inText = [
    ...proseOf(page)
      .replaceAll(/\s+/g, ' ')
      .matchAll(/`(?:npx )?svc ([^`…]+)`/g),
  ].map(([, line = '']) => ({ page, words: wordsOf(line), isWhole: false }))
  return [...inBlocks, ...inText]
}

describe('every `svc …` of the pages', async () => {
  const commands = new Map((await readCommands()).map(({ id, command }) => [id, command]))
  const written = pages.flatMap(writtenIn)
  /** The longest beginning that is a command. */
  const found = (words: readonly string[]) => {
    for (let count = Math.min(words.length, 4); count > 0; count -= 1) {
      const id = words.slice(0, count).join(' ')
      const command = commands.get(id)
      if (command) return { command, rest: words.slice(count) }
    }
    return undefined
  }
  const isTopic = (words: readonly string[]) =>
    words[0] === 'help' || [...commands.keys()].some((id) => id.startsWith(`${words.join(' ')} `))

  test('is a command, or a group of commands', () => {
    expect(written.length).toBeGreaterThan(400)
    const unknown = written.filter(({ words }) => !found(words) && !isTopic(words) && !words[0]?.startsWith('--'))
    expect(unknown.map(({ page, words }) => `${page}: svc ${words.join(' ')}`)).toEqual([])
  })

  test('has flags of that command, and in a block all that it needs', async () => {
    const wrong: string[] = []
    for (const { page, words, isWhole } of written) {
      const it = found(words)
      if (!it) continue
      const { command, rest } = it
      const flags = { ...command.baseFlags, ...command.flags }
      const names = rest.filter((word) => /^--[a-z]/.test(word)).map((word) => word.slice(2).split('=')[0] ?? '')
      const known = (name: string) =>
        name in flags || name === 'json' || name === 'help' || flags[name.replace(/^no-/, '')]?.type === 'boolean'
      const place = `${page}: svc ${words.join(' ')}`
      for (const name of names.filter((one) => !known(one))) wrong.push(`${place} has no --${name}`)
      if (!isWhole || names.includes('help')) continue
      await Parser.parse([...rest], {
        flags: { ...flags, json: { type: 'boolean', allowNo: false } as never },
        args: command.args,
        strict: command.strict,
        '--': true,
      } as never).catch((error: Error) => wrong.push(`${place}: ${error.message.split('\n')[0]}`))
    }
    expect(wrong).toEqual([])
  })
})
