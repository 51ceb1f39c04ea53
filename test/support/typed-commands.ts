/** Commands as they are typed: the built `svc` as a process of its own, without a terminal. */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const program = join(import.meta.dirname, '../../bin/svc.js')

/** Runs `svc` in an empty folder with nothing of this process's environment but what is given. */
export function svc(args: readonly string[], env: NodeJS.ProcessEnv, stdin = ''): Promise<Ended> {
  const home = mkdtempSync(join(tmpdir(), 'svc-typed-'))
  const { PATH } = process.env
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    env: { PATH, HOME: home, NO_COLOR: '1', ...env },
  })
  child.stdin.on('error', () => {}) // it may end before it has read everything
  child.stdin.end(stdin)
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}
