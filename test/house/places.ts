/**
 * What it takes to add one of a kind: a copy of the source that things are added to, and the files that this touched.
 *
 *    additions.ts ──places──▶ copy of src, migrations and the house's rules ──▶ touched files, compiler, the copy's own modules
 *
 * The copy lies in `.tmp/` of the project, which git and the linters pass over, so that it finds node_modules.
 * docs/adding-an-operation.md says the number of places of each kind; places.test.ts counts them.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './source.ts'

/** A file that is made, or texts of a file that are found once and replaced. Paths are from the project's root. */
export type Place =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly changes: readonly (readonly [found: string, replacement: string])[] }

/** One of a kind of thing, as a developer would add it. */
export interface Addition {
  /** As the table in docs/adding-an-operation.md names it. */
  readonly kind: string
  /** All that is written by hand for it to be there, tests and pages apart. */
  readonly places: readonly Place[]
  /** What needs all of the kind: an error of the compiler while only the first place is there. */
  readonly register?: string
  /** A rule that uses it: compiles with the places, and not without them. No place, since every use is another one. */
  readonly use?: { readonly path: string; readonly text: string }
  /** Expects the copy's own modules to know it. */
  readonly check: (copy: SourceCopy) => Promise<void>
}

export interface SourceCopy {
  /** Writes a place into the copy. Throws where a text is not found exactly once, and where a new file is there already. */
  write(place: Place): void
  /** The files that differ from the project's, or that it does not have, in order. */
  touched(): readonly string[]
  /** What the compiler says of these files and of all that they import; one line for each error. */
  typeErrors(paths: readonly string[]): Promise<readonly string[]>
  /** A module of the copy. `M` is the type of the project's own. */
  load<M>(path: string): Promise<M>
  remove(): void
}

const copied = [
  ...['src', 'migrations', 'package.json', 'tsconfig.json'],
  ...['test/house/catalog.ts', 'test/house/catalog-rules.ts'],
]

export function copySource(): SourceCopy {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp', 'places-'))
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true })
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')

  return {
    write(place) {
      const path = join(folder, place.path)
      if ('text' in place && existsSync(path)) throw new Error(`${place.path} is there already`)
      const text = 'text' in place ? place.text : place.changes.reduce(changed(place.path), read(place.path))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    },
    touched: () =>
      ['src', 'migrations']
        .flatMap((top) => readdirSync(join(folder, top), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .filter((path) => !existsSync(join(root, path)) || read(path) !== readFileSync(join(root, path), 'utf8'))
        .sort(),
    typeErrors(paths) {
      const options = {
        extends: './tsconfig.json',
        include: [],
        files: paths,
      }
      writeFileSync(join(folder, 'tsconfig.places.json'), JSON.stringify(options))
      return compile(join(folder, 'tsconfig.places.json'))
    },
    load: (path) => import(/* @vite-ignore */ pathToFileURL(join(folder, path)).href),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const changed =
  (path: string) =>
  (text: string, [found, replacement]: readonly [string, string]): string => {
    const parts = text.split(found)
    if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${found}`)
    return parts.join(replacement)
  }

/** The errors of a project, as `path: message`. Without blocking, so that a test's timeout still ends it. */
async function compile(project: string): Promise<readonly string[]> {
  // With its four checkers it takes two and a half times the CPU.
  const flags = ['--pretty', 'false', '--singleThreaded', '-p', project]
  const compiler = spawn(join(root, 'node_modules/.bin/tsc'), flags, {
    cwd: dirname(project),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  compiler.stdout.on('data', (piece: Buffer) => {
    said += piece.toString()
  })
  await new Promise((resolve, reject) => compiler.on('close', resolve).on('error', reject))
  return said.split('\n').filter((line) => / error TS\d+/.test(line))
}

/** The numbers in the table of docs/adding-an-operation.md, by kind. */
export function placesByPage(): ReadonlyMap<string, number> {
  const page = readFileSync(join(root, 'docs/adding-an-operation.md'), 'utf8')
  const rows = page.matchAll(/^\| (?:an? )?([a-z][a-z -]*?) \| (\d+) \|/gm)
  return new Map([...rows].map(([, kind = '', places]) => [kind, Number(places)]))
}
