// Builds dist/ and the command manifest. Plain JavaScript: `npm ci` runs it before anything else exists.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'

const run = (command, args) => {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}
rmSync('dist', { recursive: true, force: true })
run('tsc', ['-p', 'tsconfig.json'])
run('oclif', ['manifest'])

// Makes `npx svc` run this checkout. With a `bin` in package.json, npx would first install the project into its cache
// at every call (docs/decisions/0010).
const link = 'node_modules/.bin/svc'
rmSync(link, { force: true })
if (existsSync('node_modules/.bin')) symlinkSync('../../bin/svc', link)
