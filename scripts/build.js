// Builds dist/ and the command manifest. Plain JavaScript: `npm ci` runs it before anything else exists.
//
// A command waits for every file that it loads, so what all commands load (our own code, oclif, zod) is joined into few
// files (docs/decisions/0179). The other packages stay where npm put them. `npm run check` checks the types.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, rmSync, symlinkSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { replaceFiles } from './replace-files.js'

const joined = ['@oclif/core', 'zod']

/** oclif finds a command at the path of its source. */
const entries = ['src/cli/main.ts', 'src/cli/help.ts', ...globSync('src/cli/commands/**/*.ts')]
const isOwn = (id) => id.startsWith('.') || id.startsWith('/')
const isJoined = (id, importer) =>
  joined.some((name) => id === name || id.startsWith(`${name}/`)) ||
  importer?.slice(process.cwd().length).includes('/node_modules/')

// Made beside dist/, because `npm pack` and `npm ci` build, too, and a command that runs meanwhile still loads files of it.
const made = 'dist.next'
rmSync(made, { recursive: true, force: true })
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((path) => [path.slice('src/'.length, -'.ts'.length), path])),
  platform: 'node',
  external: (id, importer) => !isOwn(id) && !isJoined(id, importer),
})
await bundle.write({ dir: made, entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js' })
await bundle.close()
replaceFiles(made, 'dist')
const { status } = spawnSync('oclif', ['manifest'], { stdio: ['ignore', 'inherit', 'inherit'] })
if (status !== 0) process.exit(status ?? 1)

// Makes `npx svc` run this checkout. With a `bin` in package.json, npx would first install the project into its cache
// at every call (docs/decisions/0010).
const link = 'node_modules/.bin/svc'
rmSync(link, { force: true })
if (existsSync('node_modules/.bin')) symlinkSync('../../bin/svc', link)
