/** The project's own source, as the house rules read it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** The TypeScript files below a folder of the project. */
export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(root, path).replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))
}

export interface Import {
  readonly from: string
  /** A project path, or a package's name. */
  readonly to: string
  readonly isTypeOnly: boolean
  /** `await import(…)`: loaded when it is needed. */
  readonly isLazy: boolean
}

const statement = /^(import|export)\s+(type\s+)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
const dynamic = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

/** What a file imports and re-exports, in every form the language has. */
export function importsOf({ path, text }: SourceFile): Import[] {
  const resolved = (to: string) => (to.startsWith('.') ? join(path, '..', to).replaceAll('\\', '/') : to)
  const fixed = [...text.matchAll(statement)].map(([, , type, to = '']) => ({
    from: path,
    to: resolved(to),
    isTypeOnly: type !== undefined,
    isLazy: false,
  }))
  const lazy = [...text.matchAll(dynamic)].map(([, to = '']) => ({
    from: path,
    to: resolved(to),
    isTypeOnly: false,
    isLazy: true,
  }))
  return [...fixed, ...lazy]
}
