// Builds dist/ and the command manifest. Plain JavaScript: `npm ci` runs it before anything else exists.
//
// A command waits for every file that it loads, so what all commands load (our own code, oclif, zod) is joined into few
// files (docs/decisions/0179). The other packages stay where npm put them. Without the developers' packages
// (`npm ci --omit=dev`) nothing is joined, and the types are only taken away: commands start later (docs/decisions/0302).
// `npm run check` checks the types.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { replaceFiles } from './replace-files.js'

const joined = ['@oclif/core', 'zod']

/** oclif finds a command at the path of its source; `*-process.ts` are programs that the service starts. */
const entries = [
  'src/cli/main.ts',
  'src/cli/help.ts',
  ...globSync('src/cli/commands/**/*.ts'),
  ...globSync('src/core/**/*-process.ts'),
]
const isOwn = (id) => id.startsWith('.') || id.startsWith('/')
const isJoined = (id, importer) =>
  joined.some((name) => id === name || id.startsWith(`${name}/`)) ||
  importer?.slice(process.cwd().length).includes('/node_modules/')
const made = 'dist.next'
const builtPath = (path) => path.slice('src/'.length, -'.ts'.length)

/** V8 keeps the text of what it runs: with one character beyond Latin-1, two bytes for each of its characters. */
const oneByteEach = (code) =>
  code.replaceAll(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

async function joinFiles(rolldown) {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [builtPath(path), path])),
    platform: 'node',
    external: (id, importer) => !isOwn(id) && !isJoined(id, importer),
  })
  await bundle.write({
    dir: made,
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    comments: { jsdoc: false },
    plugins: [{ name: 'one-byte', renderChunk: oneByteEach }],
  })
  await bundle.close()
}

function strip() {
  for (const path of globSync('src/**/*.ts')) {
    const target = join(made, `${builtPath(path)}.js`)
    mkdirSync(dirname(target), { recursive: true })
    const plain = stripTypeScriptTypes(readFileSync(path, 'utf8'))
    writeFileSync(target, plain.replaceAll(/((?:from|import)\s*\(?\s*'\.[^'\n]*)\.ts'/g, "$1.js'"))
  }
}

/** What `svc help` and the choice of a command read, so that no command is loaded for it. */
async function writeManifest() {
  const { Plugin } = await import('@oclif/core')
  const plugin = new Plugin({
    errorOnManifestCreate: true,
    ignoreManifest: true,
    respectNoCacheDefault: true,
    root: resolve('.'),
    type: 'core',
  })
  await plugin.load()
  writeFileSync('oclif.manifest.json', JSON.stringify(plugin.manifest))
}

// Made beside dist/, because `npm pack` and `npm ci` build, too, and a command that runs meanwhile still loads files of it.
rmSync(made, { recursive: true, force: true })
const bundler = await import('rolldown').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
})
if (bundler) await joinFiles(bundler.rolldown)
else strip()
// Without the developers' packages nobody compiles against this Node; its headers are a fifth of what npm has installed
// (docs/decisions/0374).
if (!bundler)
  for (const headers of globSync('node_modules/node-*/include')) rmSync(headers, { recursive: true, force: true })
replaceFiles(made, 'dist')
await writeManifest()

// Makes `npx svc` run this checkout. With a `bin` in package.json, npx would first install the project into its cache
// at every call; so only the packed package has one (scripts/packed-manifest.js, docs/decisions/0301).
const link = 'node_modules/.bin/svc'
rmSync(link, { force: true })
if (existsSync('node_modules/.bin')) symlinkSync('../../bin/svc', link)
