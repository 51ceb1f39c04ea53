// The package.json of the package, which differs from the checkout's: `npm pack` calls this before (`write`) and after
// (`restore`). It builds only what is out of date, because a command may be running from dist/. docs/decisions/0301.
//
//  - `bin`: in the checkout it would make `npx svc` install the project at every call;
//  - `engines`: the package brings its own Node, and any that runs npm can install it;
//  - no developers' packages and scripts;
//  - npm-shrinkwrap.json: a global install gets the packages of package-lock.json, and no others.
//
// If packing is interrupted, package.json stays changed until the next `npm pack`, or `node scripts/packed-manifest.js restore`.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

const kept = '.package.json.unpacked'
const shrinkwrap = 'npm-shrinkwrap.json'

const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)

function restore() {
  if (existsSync(kept)) renameSync(kept, 'package.json')
  rmSync(shrinkwrap, { force: true })
}

const runtime = ({ devDependencies: _, scripts: __, allowScripts: ___, ...rest }) => ({
  ...rest,
  bin,
  engines,
})

const bin = { svc: 'bin/svc' }
const engines = { node: '>=20' }

/** Where the registry has a package; npm puts the registry of the user in the place of this one. */
function placeOf(path, { name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), version }) {
  return `https://registry.npmjs.org/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`
}

/**
 * The lock without what only developers need, which npm would install for users, too. With the place of each package, npm
 * asks the registry for no lists of versions, and finds in its cache what it has there.
 */
function lockOf({ packages, ...lock }) {
  const { devDependencies: _, ...root } = packages['']
  const used = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
  const placed = used.map(([path, entry]) => [path, { ...entry, resolved: placeOf(path, entry) }])
  return { ...lock, packages: { '': { ...root, bin, engines }, ...Object.fromEntries(placed) } }
}

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
  write(shrinkwrap, lockOf(read('package-lock.json')))
  write('package.json', runtime(JSON.parse(original)))
}
