/**
 * Writes the generated pages below docs/ from the project's own data.
 * `npm run docs` writes them; test/house/generated.test.ts fails when one is stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { startCluster, templateName } from '../test/kit/cluster.ts'
import { pages } from './pages.ts'
import { schemaPage, schemaPath } from './schema-page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
for (const [path, text] of Object.entries({ ...(await pages()), [schemaPath]: await migratedSchema() })) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(path)
}

/** The page of the schema, from the template database that tests copy. */
async function migratedSchema(): Promise<string> {
  const { cluster, tearDown } = await startCluster()
  const sql = postgres({ ...postgresOptions({ ...cluster.superuser, database: templateName }), max: 1 })
  try {
    return await schemaPage(sql)
  } finally {
    await sql.end()
    await tearDown()
  }
}
