/**
 * Writes the generated pages below docs/ from the project's own data.
 * `npm run docs` writes them; test/house/generated.test.ts fails when one is stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pages } from './pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
for (const [path, text] of Object.entries(await pages())) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(path)
}
