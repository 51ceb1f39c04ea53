// Builds dist/ and the command manifest. Plain JavaScript: `npm ci` runs it before anything else exists.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

const run = (command, args) => {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}
rmSync('dist', { recursive: true, force: true })
run('tsc', ['-p', 'tsconfig.json'])
run('oclif', ['manifest'])
