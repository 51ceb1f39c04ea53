/**
 * A shell on a pseudo terminal: lines are typed one after the other, as a person types them, and each is awaited until the
 * shell asks for the next. What a command asks in between is answered.
 */
import { spawn } from 'node:child_process'

interface Typed {
  /** How the last command ended; undefined while the shell waits for more lines of it. */
  readonly code: number | undefined
  /** What appeared since the line was typed, with the line itself. */
  readonly said: string
}

/** What is typed at a question. */
export type Habit = readonly [question: RegExp, typed: string | ((found: RegExpExecArray, screen: string) => string)]

export interface Terminal {
  /**
   * Types the line. `answers` come before what is usual (`habits`), each once. Refuses, with the screen, a line whose command
   * neither ends nor asks what is known within half a minute.
   */
  type(line: string, answers?: readonly Habit[], input?: string): Promise<Typed>
  /** Waits for what a program in the background prints; answers what appeared since the last line. */
  until(text: RegExp): Promise<string>
  /** Ctrl-D, and what is left of it. */
  close(): Promise<void>
}

interface TerminalOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly columns?: number
  readonly habits?: readonly Habit[]
}

const patience = 30_000
const prompt = /⟦(\d+|…)⟧ $/
const sequences = /\u001b\[[0-9;?]*[A-Za-z]|\u001b[()=>][A-B0]?|\r/g

export async function openTerminal({ cwd, env, columns = 80, habits = [] }: TerminalOptions): Promise<Terminal> {
  const shell = `stty cols ${columns} rows 50; exec bash --noprofile --norc --noediting -i`
  const child = spawn('script', ['-qefc', shell, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm', NO_COLOR: '1', HISTFILE: '', PS1: '⟦$?⟧ ', PS2: '⟦…⟧ ', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let all = ''
  let wake = () => {}
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    all += piece
    wake()
  })
  const ended = new Promise<void>((done) => child.once('close', () => done()))
  child.stdin.on('error', () => {}) // the shell has ended
  const plain = (from: number) => all.slice(from).replaceAll(sequences, '')

  /** Waits for the next prompt, and answers on the way. */
  async function settle(from: number, answers: readonly Habit[]): Promise<Typed> {
    const left = [...answers]
    let read = from
    // A question is drawn anew for each key, and with a tick once it is answered.
    let isAnswered = true
    const deadline = Date.now() + patience
    for (;;) {
      const [, code] = prompt.exec(plain(from)) ?? []
      if (code !== undefined) return { code: code === '…' ? undefined : Number(code), said: plain(from) }
      const ticked = isAnswered ? null : /✔[^\n]*\n/.exec(all.slice(read))
      if (ticked !== null) {
        read += ticked.index + ticked[0].length
        isAnswered = true
      }
      const asked = isAnswered ? plain(read) : ''
      const index = left.findIndex(([question]) => question.test(asked))
      const [question, typed] = (index === -1 ? habits.find(([one]) => one.test(asked)) : left[index]) ?? []
      if (question !== undefined && typed !== undefined) {
        if (index !== -1) left.splice(index, 1)
        read = all.length
        isAnswered = false
        const found = question.exec(asked) as RegExpExecArray
        child.stdin.write(typeof typed === 'string' ? typed : typed(found, plain(from)))
        continue
      }
      if (Date.now() > deadline) {
        child.stdin.write('\u0003')
        throw new Error(`It does not end:\n${plain(from)}`)
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  await settle(0, [])
  let from = 0
  return {
    async until(text) {
      const deadline = Date.now() + patience
      while (!text.test(plain(from))) {
        if (Date.now() > deadline) throw new Error(`${text} does not appear:\n${plain(from)}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return plain(from)
    },
    async type(line, answers = [], input = '') {
      from = all.length
      child.stdin.write(`${line}\n${input}`)
      // What is echoed of the line must not count as the next prompt.
      while (!all.slice(from).includes('\n')) await new Promise((resolve) => setTimeout(resolve, 5))
      return settle(from, answers)
    },
    async close() {
      child.stdin.write('\u0004')
      child.stdin.end()
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5_000).unref())])
      child.kill('SIGKILL')
    },
  }
}
