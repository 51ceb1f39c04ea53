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

// npm links the programs of dependencies, not the project's own: without this, `npx svc` would try to install it.
const link = 'node_modules/.bin/svc'
rmSync(link, { force: true })
if (existsSync('node_modules/.bin')) symlinkSync('../../bin/svc', link)
