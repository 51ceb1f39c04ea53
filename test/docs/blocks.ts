/** The pages that people follow, and the blocks of commands on them. */
import { globSync, readFileSync } from 'node:fs'

export interface Block {
  readonly page: string
  /** Where it begins, counted from 1. */
  readonly line: number
  /** `sh`, `console`, `sql`, …; empty if it says none. */
  readonly language: string
  /** Its lines, without the indentation of the fence. */
  readonly lines: readonly string[]
}

/** Decisions tell why, and are not followed; what is generated is made from the sources, and has no blocks but cli.md's. */
export const pages: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...globSync(['docs/**/*.md', 'deploy/**/*.md', 'clients/**/*.md'], {
    exclude: (name) => /^docs\/decisions$|node_modules/.test(name),
  }).sort(),
]

const textOf = (page: string) => readFileSync(page, 'utf8')

/** Every fenced block of a page, from the first to the last. */
export function blocksOf(page: string, text = textOf(page)): readonly Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', language = ''] = /^( *)```(\w*)$/.exec(lines[at] ?? '') ?? [undefined]
    if (!/^ *```/.test(lines[at] ?? '')) continue
    const end = lines.indexOf(`${indent}\`\`\``, at + 1)
    if (end === -1) throw new Error(`${page}:${at + 1} opens a block that nothing closes`)
    const inside = lines.slice(at + 1, end).map((line) => line.slice(indent.length))
    blocks.push({ page, line: at + 1, language, lines: inside })
    at = end
  }
  return blocks
}

/** Of these languages, a block is typed by whoever follows the page. */
export const isTyped = ({ language }: Block) => ['sh', 'console', 'sql'].includes(language)

/** The page without its fenced blocks. */
export function proseOf(page: string): string {
  const lines = textOf(page).split('\n')
  for (const { line, lines: inside } of blocksOf(page)) lines.fill('', line - 1, line + inside.length + 1)
  return lines.join('\n')
}
