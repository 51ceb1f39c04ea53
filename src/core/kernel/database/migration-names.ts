/** The names of this release's migrations. They are separate from the code that runs them, for modules that only compare. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../values/package-root.ts'

export const migrationFolder = join(packageRoot, 'migrations')

/** In order. */
export const migrationNames = () =>
  readdirSync(migrationFolder)
    .filter((name) => /^[0-9]{4}_.*\.sql$/.test(name))
    .map((name) => name.slice(0, -'.sql'.length))
    .sort()

/**
 * Whether code that knows every migration before this one may run on a database that has it, as its header says
 * (`Old code  runs: …` or `stops: …`).
 */
export function olderCodeRuns(name: string): boolean {
  const [, says] =
    /^-- Old code {2}(runs|stops): /m.exec(readFileSync(join(migrationFolder, `${name}.sql`), 'utf8')) ?? []
  if (says === undefined) throw new Error(`${name}.sql does not say whether older code runs on it`)
  return says === 'runs'
}
