/**
 * How a page is followed: one step for each block of commands, in the order of the page. A step types its block in a terminal,
 * line by line, or says which other test does, or why nothing here can.
 */
import { expect } from 'vitest'
import type { Habit, Terminal } from '../kit/terminal.ts'
import { type Block, blocksOf, isTyped, proseOf } from './blocks.ts'
import type { Ground } from './ground.ts'

/** `typed` may depend on what the block has said so far. */
type Pairs = readonly (readonly [written: string, typed: string | ((said: string) => string)])[]

export interface Play {
  /** What stands on the page for a name of the reader's own, and what is typed in its place. */
  readonly replace?: (ground: Ground) => Pairs | Promise<Pairs>
  /** What is typed at questions, before the usual. */
  readonly answers?: (ground: Ground) => readonly Habit[]
  /** What a program reads from the terminal until Ctrl-D, by the beginning of its line. */
  readonly input?: Readonly<Record<string, string | ((ground: Ground) => string)>>
  /** What has to appear before the next line is typed, by the beginning of a line: of a program in the background. */
  readonly awaits?: Readonly<Record<string, RegExp>>
  /** Exit codes other than 0, by the beginning of the command. */
  readonly codes?: Readonly<Record<string, number | readonly number[]>>
  /** What appears. */
  readonly shows?: readonly (string | RegExp)[]
  readonly before?: (ground: Ground, terminal: Terminal) => Promise<unknown> | unknown
  readonly after?: (ground: Ground, terminal: Terminal, said: string) => Promise<unknown> | unknown
  /** Programs without which the block is left out, with a line that says so. */
  readonly needs?: readonly string[]
  /** Where a block of SQL runs; the installation's database where absent. */
  readonly database?: string
  /** The block is variables of a daemon: `svc config validate` reads them. */
  readonly isSettings?: true
}

export type Step =
  /** `block`: how the block begins. */
  | { readonly block: string; readonly play: Play }
  | { readonly block: string; readonly elsewhere: string }
  | { readonly block: string; readonly cannot: string }
  /** A command in the text, as it stands between backticks there. */
  | { readonly inline: string; readonly play: Play }

export interface Story {
  readonly page: string
  readonly steps: readonly Step[]
}

/** Types everything of a story that is to be typed. */
export async function follow({ page, steps }: Story, ground: Ground, terminal: Terminal): Promise<void> {
  const blocks = blocksOf(page).filter(isTyped)
  let next = 0
  for (const step of steps) {
    const block = 'block' in step ? blocks[next++] : undefined
    if (!('play' in step)) continue
    const lines = 'inline' in step ? [inlineOf(page, step.inline)] : (block?.lines ?? [])
    const place = 'inline' in step ? `${page} \`${step.inline}\`` : `${page}:${block?.line}`
    const lacking = (step.play.needs ?? []).filter((program) => !ground.has(program))
    if (lacking.length > 0) process.stderr.write(`Left out for want of ${lacking.join(', ')}: ${place}\n`)
    else await playBlock(place, lines, block, step.play, ground, terminal)
  }
}

function inlineOf(page: string, command: string): string {
  expect(proseOf(page).replaceAll(/\s+/g, ' '), `${page} has it`).toContain(`\`${command}\``)
  return command
}

async function playBlock(
  place: string,
  lines: readonly string[],
  block: Block | undefined,
  play: Play,
  ground: Ground,
  terminal: Terminal,
): Promise<void> {
  await play.before?.(ground, terminal)
  const pairs = (await play.replace?.(ground)) ?? []
  for (const [written] of pairs) expect(lines.join('\n'), place).toContain(written)
  const own = (line: string, said = '') =>
    pairs.reduce(
      (text, [written, typed]) =>
        text.includes(written) ? text.replaceAll(written, typeof typed === 'string' ? typed : typed(said)) : text,
      line,
    )
  const said = play.isSettings
    ? await validate(
        place,
        lines.map((line) => own(line)),
        terminal,
      )
    : block?.language === 'sql'
      ? await ground.sql(lines.map((line) => own(line)).join('\n'), play.database)
      : await typeAll(place, lines, own, play, ground, terminal)
  for (const shown of play.shows ?? []) {
    if (typeof shown === 'string') expect(said, place).toContain(shown)
    else expect(said, place).toMatch(shown)
  }
  await play.after?.(ground, terminal, said)
}

async function typeAll(
  place: string,
  lines: readonly string[],
  own: (line: string, said: string) => string,
  play: Play,
  ground: Ground,
  terminal: Terminal,
): Promise<string> {
  const answers = play.answers?.(ground) ?? []
  let said = ''
  let begun = ''
  const by = <T>(ofLines: Readonly<Record<string, T>> | undefined, line: string) =>
    Object.entries(ofLines ?? {}).find(([start]) => line.startsWith(start))?.[1]
  for (const line of lines) {
    if (begun === '') begun = line
    const input = by(play.input, line)
    const text = typeof input === 'function' ? input(ground) : input
    const typed = await terminal.type(own(line, said), answers, text === undefined ? '' : `${text}\n\u0004`)
    said += typed.said
    const awaited = by(play.awaits, line)
    if (awaited !== undefined) said += await terminal.until(awaited)
    if (typed.code === undefined) continue
    const wanted = [by(play.codes, begun) ?? 0].flat()
    expect([place, begun, typed.code], typed.said).toEqual([
      place,
      begun,
      wanted.find((one) => one === typed.code) ?? wanted[0],
    ])
    begun = ''
  }
  expect(begun, `${place} leaves the shell waiting`).toBe('')
  return said
}

/** The lines are assignments of an environment; svc has to know each name, and to accept each value. */
async function validate(place: string, lines: readonly string[], terminal: Terminal): Promise<string> {
  for (const line of lines) expect(line, place).toMatch(/^[A-Z][A-Z0-9_]*=\S/)
  const typed = await terminal.type(
    `(set -a; ${lines.map((line) => line.replace(/\s+#.*/, '')).join('; ')}; svc config validate)`,
  )
  expect([place, typed.code], typed.said).toEqual([place, 0])
  return typed.said
}
