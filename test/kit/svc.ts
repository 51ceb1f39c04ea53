/**
 * The command line as people run it: bin/svc as a process, with its own home, on a terminal where a test asks for one.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../src/core/kernel/config/config.ts'
import { runHosted } from './command-host.ts'
import { urlOf } from './daemon.ts'

const bin = fileURLToPath(new URL('../../bin/svc', import.meta.url))
const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
if (!existsSync(built)) throw new Error('The command line is tested as it is built: npm run build')

export const terminalColumns = 80

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What is typed once a question appears; it may depend on the screen, and on what is done before. */
export type Answer = readonly [question: string, typed: string | ((screen: string) => string | Promise<string>)]

export interface Home {
  /** Where the commands run. */
  readonly folder: string
  readonly config: string
  /** Runs a command to its end. */
  svc(args: readonly string[], options?: RunOptions): Promise<Ran>
  /** Starts a command that keeps running. */
  start(args: readonly string[], options?: RunOptions): ChildProcess
  /** Runs a command on a pseudo terminal, 80 columns wide unless COLUMNS says else; each answer is typed once its question appears. */
  onTerminal(
    args: readonly string[],
    answers: readonly Answer[],
    env?: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; screen: string }>
  /** Writes a file of mode 0600 and answers its path. */
  secretFile(name: string, text: string): string
  remove(): void
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  readonly cwd?: string
  /** Every write to a file fails, as on a full disk. */
  readonly filesOfNoSize?: true
  /** Started by bin/svc, where a prepared process (command-host.ts) is not enough. */
  readonly ownProcess?: true
}

/** A folder with its own configuration; `env` is set for every command. */
export function temporaryHome(env: NodeJS.ProcessEnv = {}): Home {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-cli-')))
  const folder = join(base, 'work')
  const config = join(base, 'config')
  mkdirSync(folder)
  const { PATH, HOME } = process.env
  const common = { PATH, HOME, TZ: 'UTC', XDG_CONFIG_HOME: config, ...env }

  const start = (args: readonly string[], { env: more, cwd, filesOfNoSize }: RunOptions = {}) => {
    const words = filesOfNoSize ? ['-c', 'ulimit -f 0; exec "$0" "$@"', bin, ...args] : args
    const child = spawn(filesOfNoSize ? 'sh' : bin, words, {
      cwd: cwd ?? folder,
      env: { ...common, ...more },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.on('error', () => {}) // a command may end before it has read its input
    return child
  }
  return {
    folder,
    config,
    start,
    async svc(args, options = {}) {
      const { input = '', cwd = folder, env: more } = options
      if (!options.ownProcess && !options.filesOfNoSize)
        return runHosted({ args, input, cwd, env: { ...common, ...more } })
      const child = start(args, options)
      child.stdin?.end(input)
      const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), endOf(child)])
      return { code, stdout, stderr }
    },
    async onTerminal(args, answers, more = {}) {
      const command = [bin, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
      const child = spawn(
        'script',
        ['-qefc', `stty cols ${more['COLUMNS'] ?? terminalColumns}; ${command}`, '/dev/null'],
        {
          cwd: folder,
          env: { ...common, TERM: 'xterm', NO_COLOR: '1', ...more },
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      )
      const said = conversation(child, answers).catch((error: unknown) => {
        child.stdin?.write('\u0003')
        throw error
      })
      const [screen, code] = await Promise.all([said, endOf(child)])
      return { code, screen }
    },
    secretFile(name, text) {
      const path = join(folder, name)
      writeFileSync(path, text, { mode: 0o600 })
      return path
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** The environment with which a command reaches the database of a configuration directly. */
export const databaseEnv = ({ database, dataDir, keyringFile }: Config): NodeJS.ProcessEnv => ({
  SVC_DATABASE_URL: urlOf(database!.daemon),
  SVC_DATABASE_OWNER_URL: urlOf(database!.owner),
  SVC_DATA_DIR: dataDir,
  SVC_KEYRING_FILE: keyringFile,
})

const endOf = (child: ChildProcess) => new Promise<number | null>((done) => child.once('close', done))

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = ''
  for await (const piece of stream ?? []) text += String(piece)
  return text
}

/** Types each answer after its question has appeared; answers the whole text of the screen. */
async function conversation(child: ChildProcess, answers: readonly Answer[]): Promise<string> {
  let screen = ''
  let read = 0
  let next = 0
  for await (const piece of child.stdout ?? []) {
    screen += String(piece)
    const [question, typed] = answers[next] ?? []
    const at = question === undefined ? -1 : screen.indexOf(question, read)
    if (question === undefined || typed === undefined || at === -1) continue
    read = at + question.length
    next += 1
    child.stdin?.write(typeof typed === 'string' ? typed : await typed(screen))
  }
  return screen
}

/** Resolves once the text has appeared on the stream of a command that keeps running. */
export function seen(child: ChildProcess, stream: 'stdout' | 'stderr', text: string | RegExp): Promise<string> {
  return new Promise((done, failed) => {
    let all = ''
    child[stream]?.on('data', (piece: Buffer) => {
      all += piece.toString()
      if (typeof text === 'string' ? all.includes(text) : text.test(all)) done(all)
    })
    child.once('close', (code) => failed(new Error(`it ended with ${code}, saying: ${all}`)))
  })
}
