/** Writes the OpenAPI document to a file, for tools that read one: `npx node scripts/openapi.ts FILE`. */
import { writeFileSync } from 'node:fs'
import { operations } from '../src/core/contract/operations.ts'
import { writeJson } from '../src/core/kernel/values/json.ts'
import { openApiDocument } from '../src/daemon/openapi.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the file to write: npx node scripts/openapi.ts FILE')
writeFileSync(file, `${writeJson(openApiDocument(Object.values(operations)))}\n`)
