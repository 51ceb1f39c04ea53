/** The names of this release's migrations. They are separate from the code that runs them, for modules that only compare. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../values/package-root.ts'

export const migrationFolder = join(packageRoot, 'migrations')

/** In order. */
export const migrationNames = () =>
  readdirSync(migrationFolder)
    .filter((name) => /^[0-9]{4}_.*\.sql$/.test(name))
    .map((name) => name.slice(0, -'.sql'.length))
    .sort()
